#include "holdfast/base/crowding.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <memory>
#include <semaphore>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#ifdef HOLDFAST_OPENMP
#include <omp.h>
#endif

#include "holdfast/base/signals.h"

namespace holdfast {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kWindow = 20 * kMillisecond;  // between two looks
constexpr int64_t kCalm = 300 * kMillisecond;   // this long without a crowd: alone again
// One program beside a team of two makes it wait for half of the time; what the system itself does
// now and then, for a hundredth.
constexpr int64_t kShare = 10;                 // a crowd takes at least this part of the time
constexpr int64_t kOften = 10 * kMillisecond;  // or, where the system does not say, pushes so often

// What a container is allowed, in whole cores: both versions of control groups, as seen from
// inside. Nought where nothing limits it.
int quota() {
  double most = 0, period = 0;
  if (std::ifstream file{"/sys/fs/cgroup/cpu.max"}) {
    std::string text;
    file >> text >> period;
    most = text == "max" ? 0 : std::strtod(text.c_str(), nullptr);
  } else {
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> most;
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  }
  if (!(most > 0) || !(period > 0) || most > 1e6 * period) return 0;
  return std::max(1, static_cast<int>(most / period));
}

}  // namespace

int usable_cores() {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
#ifdef __linux__
  cpu_set_t bound;
  if (sched_getaffinity(0, sizeof bound, &bound) == 0) cores = CPU_COUNT(&bound);
#endif
  if (int share = quota(); share && share < cores) cores = share;
  return std::max(cores, 1);
}

// A thread with an idle team of its own. libgomp counts all threads that it manages in the process:
// while they are more than the cores, each waits for only some microseconds before it sleeps.
// There is no call for that; its setting is read from the environment before any of our code runs.
struct Crowding::Parked {
  std::binary_semaphore go{0};
};

#ifdef HOLDFAST_OPENMP

namespace {

// Nanoseconds for which this thread could run and had no core, since it last asked; negative where
// the system does not say.
int64_t waited() {
  static thread_local int64_t before = -1;
  int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  char text[96];
  ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[std::max<ssize_t>(size, 0)] = 0;
  int64_t ran = 0, all = 0;
  if (std::sscanf(text, "%" SCNd64 " %" SCNd64, &ran, &all) != 2) return -1;
  int64_t last = std::exchange(before, all);
  return last < 0 ? 0 : all - last;
}

int64_t waited_by(int team) {
  std::atomic<int64_t> all{0};
  std::atomic<bool> known{true};
  const auto caller = std::this_thread::get_id();
#pragma omp parallel num_threads(team)
  {
    if (std::this_thread::get_id() != caller) take_no_signals();
    int64_t mine = waited();
    all += mine;
    if (mine < 0) known = false;
  }
  return known ? all.load() : -1;
}

}  // namespace

bool Crowding::crowded(int team, int64_t since) {
  if (int64_t time = waited_by(team); time >= 0) return time * kShare >= since;
  rusage use;
  if (getrusage(RUSAGE_SELF, &use) != 0) return false;
  int64_t pushes = use.ru_nivcsw - std::exchange(pushed_, use.ru_nivcsw);
  return pushes >= 2 && pushes * kOften >= since;
}

void Crowding::look(int team) {
  int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  int64_t since = now - looked_;
  if (since < kWindow) return;
  bool first = looked_ == 0, crowd = crowded(team, since);
  looked_ = now;
  // A single window may be that of some other program's start.
  bool twice = std::exchange(crowded_before_, crowd) && crowd;
  if (first) return;
  if (twice || (crowd && parked_)) {
    calm_at_ = now + kCalm;
    int needed = std::max(1, omp_get_num_procs() - team + 1);
    if (needed > extra_) {
      wake();
      rest(needed);
    }
  } else if (parked_ && now > calm_at_) {
    wake();
  }
}

void Crowding::rest(int extra) {
  auto parked = std::make_unique<Parked>();
  try {
    // Not joined: at the end of the process it sleeps on, and touches nothing.
    std::thread([p = parked.get(), extra] {
#pragma omp parallel num_threads(extra + 1)
      take_no_signals();
      p->go.acquire();
      delete p;
    }).detach();
  } catch (const std::system_error&) {
    return;  // no thread to be had: the team waits as before
  }
  parked_ = parked.release();
  extra_ = extra;
}

void Crowding::wake() {
  if (parked_) parked_->go.release();  // the thread ends, and its team with it
  parked_ = nullptr;
  extra_ = 0;
}

#else

void Crowding::look(int) {}
void Crowding::rest(int) {}
void Crowding::wake() {}

#endif

}  // namespace holdfast
