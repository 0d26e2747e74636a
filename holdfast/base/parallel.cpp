#include "holdfast/base/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#ifdef HOLDFAST_OPENMP
#include <omp.h>
#endif

#include "holdfast/base/crowding.h"
#include "holdfast/base/signals.h"

namespace holdfast {
namespace {

std::atomic<int> g_threads{0};
std::atomic<bool> g_forked{
    false};                       // libgomp hangs in a forked child, so a child stays at one thread
std::atomic<bool> g_wide{false};  // one caller at a time gets the wide team
std::atomic<bool> g_deterministic{false};
thread_local bool t_inside = false;
#ifdef HOLDFAST_OPENMP
thread_local int t_dynamic = 0;  // whether the program lets OpenMP make regions smaller
#endif

// How many threads OpenMP gives a region here that asks for so many. Libraries wait for all that
// they asked for, and those of a region that is smaller wait for ever.
int given(int want) {
#ifdef HOLDFAST_OPENMP
  if (omp_in_parallel()) return 1;  // a region of the program's own
  want = std::min(want, omp_get_thread_limit());
#endif
  return want;
}

int cores() {
  static const int n = [] {
    pthread_atfork(nullptr, nullptr, [] { g_forked = true; });
    return usable_cores();
  }();
  return n;
}

bool take_wide(int team) {
  if (g_wide.exchange(true, std::memory_order_acquire)) return false;
  static Crowding crowding;
  crowding.look(team);
  return true;
}
struct GiveBack {
  ~GiveBack() { g_wide.store(false, std::memory_order_release); }
};

// The pieces that one thread of a team begins with: neighbours, and the same ones each time, which
// its caches may still hold and which memory brings in one go. Who is through helps the others.
struct alignas(64) Share {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};

// Carries the first exception out of the team: none may leave a worker.
struct Failure {
  std::atomic<bool> set{false};
  std::exception_ptr what;
  void keep() {
    if (!set.exchange(true)) what = std::current_exception();
  }
};

}  // namespace

void set_num_threads(int n) {
  constexpr int kMost = 256;  // on fewer cores; OpenMP ends the process where it gets no thread
  g_threads = std::clamp(n, 0, std::max(kMost, cores()));
}

int num_threads() {
  int all = cores();
  if (g_forked) return 1;
  int n = g_threads;
  return n ? n : all;
}

void set_deterministic(bool on) { g_deterministic = on; }
bool deterministic() { return g_deterministic; }

Team::Team(int most) : inside_(t_inside) {
  int want = t_inside ? 1 : num_threads();
  if (want > most) want = most;
  want = given(want);
  if (want > 1 && take_wide(want)) threads_ = want;
#ifdef HOLDFAST_OPENMP
  if (!inside_) {
    t_dynamic = omp_get_dynamic();
    omp_set_dynamic(0);
  }
  was_ = omp_get_max_threads();
  omp_set_num_threads(threads_);
#endif
  t_inside = true;
}

Team::~Team() {
  t_inside = inside_;
#ifdef HOLDFAST_OPENMP
  omp_set_num_threads(was_);
  if (!inside_) omp_set_dynamic(t_dynamic);
#endif
  if (threads_ > 1) g_wide.store(false, std::memory_order_release);
}

void parallel_pieces(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* env) {
  int64_t pieces = (n + grain - 1) / grain;
  auto piece = [&](int64_t p) {
    int64_t b = p * grain, e = b + grain < n ? b + grain : n;
    fn(env, b, e);
  };
  int team = t_inside ? 1 : num_threads();
  if (team > pieces) team = static_cast<int>(pieces);
  if (team <= 1 || !take_wide(team)) {
    for (int64_t p = 0; p < pieces; ++p) piece(p);
    return;
  }
  GiveBack at_end;
  Failure failure;
  const auto caller = std::this_thread::get_id();
  constexpr int kFew = 16;
  std::array<Share, kFew> few;
  std::vector<Share> many(team > kFew ? static_cast<size_t>(team) : 0);
  Share* shares = team > kFew ? many.data() : few.data();
  for (int i = 0; i < team; ++i) {
    shares[i].next = pieces / team * i + std::min<int64_t>(i, pieces % team);
    shares[i].end = pieces / team * (i + 1) + std::min<int64_t>(i + 1, pieces % team);
  }
  auto work = [&](int me) {
    if (std::this_thread::get_id() != caller) take_no_signals();
    t_inside = true;
    try {
      for (int i = 0; i < team; ++i) {
        Share& share = shares[(me + i) % team];
        for (int64_t p; !failure.set && (p = share.next.fetch_add(1)) < share.end;) piece(p);
      }
    } catch (...) {
      failure.keep();
    }
    t_inside = false;
  };
#ifdef HOLDFAST_OPENMP
#pragma omp parallel num_threads(team)
  work(omp_get_thread_num());
#else
  std::vector<std::thread> others;
  try {
    for (int i = 1; i < team; ++i) others.emplace_back([&, i] { work(i); });
  } catch (const std::system_error&) {
    // No more threads to be had: those that are there do what is left.
  }
  work(0);
  for (auto& t : others) t.join();
#endif
  if (failure.what) std::rethrow_exception(failure.what);
}

}  // namespace holdfast
