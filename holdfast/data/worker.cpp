#include "holdfast/data/worker.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/patient_lock.h"
#include "holdfast/base/signals.h"
#include "holdfast/data/bound.h"

namespace holdfast::data {

class WorkerThread final : public RefCounted {
 public:
  WorkerThread(Callback<void()> does, Callback<void()> wakes)
      : work(std::move(does)), wake(std::move(wakes)) {}
  void tell() {
    {
      std::lock_guard lock(mutex);
      if (!stop.exchange(true)) told = std::chrono::steady_clock::now();
    }
    wake();
  }
  /// How much is left of a time since it was told.
  std::chrono::milliseconds left_of(std::chrono::milliseconds most) {
    std::lock_guard lock(mutex);
    auto since = std::chrono::steady_clock::now() - told;
    return std::max(most - std::chrono::duration_cast<std::chrono::milliseconds>(since),
                    std::chrono::milliseconds(0));
  }
  /// Waits for its end, and until the thread is gone. Whoever comes first takes the thread along:
  /// its owner, or the end of the process where the owner stands still for good.
  bool gone_within(std::chrono::milliseconds most) {
    std::thread last;
    {
      std::unique_lock lock(mutex);
      if (!end.wait_for(lock, most, [&] { return ended; })) return false;
      last = std::exchange(thread, {});
    }
    if (last.joinable()) last.join();
    return true;
  }
  /// Leaves it to itself; false where it has ended meanwhile.
  bool let_go() {
    std::lock_guard lock(mutex);
    if (ended) return false;
    alone = true;
    if (thread.joinable()) thread.detach();
    return true;
  }

  Callback<void()> work;
  const Callback<void()> wake;
  const Ref<Iteration> iteration = Working::current();
  std::atomic<bool> stop{false};
  std::chrono::steady_clock::time_point told;
  const pid_t process = getpid();
  std::mutex mutex;
  std::condition_variable end;
  bool ended = false;
  bool alone = false;  // nobody waits for it but the end of the process
  std::thread thread;
};

namespace {

using std::chrono::milliseconds;
constexpr milliseconds kAtOnce{1000};
constexpr milliseconds kAtTheEnd{1000};  // a thread that waits for a language that is gone stays

thread_local WorkerThread* t_current = nullptr;

/// All that run or have an owner. Lives as long as the process: threads may run to its very end.
struct Running {
  std::mutex mutex;
  std::vector<Ref<WorkerThread>> threads;
  bool closed = false;  // the process ends
  const pid_t process = getpid();

  // A forked child begins with none: those of its parent stayed there, perhaps with the lock held.
  static Running& all() {
    static std::atomic<Running*> here{nullptr};
    Running* now = here.load();
    if (now && now->process == getpid()) return *now;
    auto* made = new Running;
    if (!now) std::atexit([] { stop_workers(); });
    if (!here.compare_exchange_strong(now, made)) {
      delete made;
      return *now;
    }
    return *made;
  }
  void add(const Ref<WorkerThread>& thread) {
    std::lock_guard lock(mutex);
    if (closed) fail(Code::E1501, "a dataset began to prefetch while the process was ending");
    threads.push_back(thread);
  }
  void remove(const WorkerThread* thread) {
    std::lock_guard lock(mutex);
    std::erase_if(threads, [&](const auto& t) { return t.get() == thread; });
  }
};

void run(const Ref<WorkerThread>& self) {
  take_no_signals();
  t_current = self.get();
  Working on(self->iteration);
  self->work();
  self->work = nullptr;  // what it holds goes here, before anybody stops waiting
  bool alone;
  {
    std::lock_guard lock(self->mutex);
    self->ended = true;
    alone = self->alone;
    self->end.notify_all();
  }
  if (alone) Running::all().remove(self.get());
}

}  // namespace

Worker::Worker(Callback<void()> work, Callback<void()> wake)
    : thread_(make_ref<WorkerThread>(std::move(work), std::move(wake))) {
  Running::all().add(thread_);
  SignalsWait signals;  // the thread begins with them shut out
  try {
    std::lock_guard lock(thread_->mutex);
    thread_->thread = std::thread([self = thread_] { run(self); });
  } catch (const std::system_error& e) {
    Running::all().remove(thread_.get());
    fail(Code::E0702, std::string("no thread could be made for a dataset: ") + e.what());
  }
}

void Worker::tell() {
  if (!elsewhere()) thread_->tell();
}

Worker::~Worker() {
  if (elsewhere()) {  // there is no thread to wait for, and a thread object that says so stops us
    thread_.leak();
    return;
  }
  thread_->tell();
  // One that is inside of a program's function for long ends when it comes out: the end of the
  // process waits for it.
  if (t_current == thread_.get()) {
    thread_->let_go();
    return;
  }
  // Those that were told together are waited for together.
  Waiting patiently;
  while (!thread_->gone_within(thread_->left_of(kAtOnce)))
    if (thread_->let_go()) return;
  Running::all().remove(thread_.get());
}

bool Worker::elsewhere() const { return thread_->process != getpid(); }
bool Worker::is_one() { return t_current != nullptr; }
bool Worker::stopping() { return t_current && t_current->stop; }

bool workers_stopped() {
  Running& running = Running::all();
  std::lock_guard lock(running.mutex);
  return running.closed;
}

void stop_workers() {
  Running& running = Running::all();
  std::vector<Ref<WorkerThread>> threads;
  {
    std::lock_guard lock(running.mutex);
    if (std::exchange(running.closed, true)) return;  // once is enough
    threads = running.threads;
  }
  for (const auto& t : threads) t->tell();
  Waiting patiently;
  for (const auto& t : threads) t->gone_within(kAtTheEnd);
}

}  // namespace holdfast::data
