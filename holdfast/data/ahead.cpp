// A thread that has elements ready before they are asked for.
#include "holdfast/data/ahead.h"

#include <atomic>
#include <thread>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/queue.h"
#include "holdfast/data/stages.h"
#include "holdfast/data/worker.h"
#include "holdfast/device/device.h"
#include "holdfast/exec/init_scope.h"

namespace holdfast::data {
namespace {

using Clock = std::chrono::steady_clock;
using Item = ElementQueue::Item;

// An element that takes less is cheaper than to sleep and be woken for it.
constexpr std::chrono::microseconds kCheap{20};
// What suits begins small, and grows while somebody waits though the thread had no room.
constexpr int64_t kFirstMost = 2, kLastMost = 512;
constexpr int64_t kMostBytes = int64_t{64} << 20;

int64_t bytes_of(const Nested& element) {
  int64_t sum = 0;
  for (const Tensor& t : element.leaves()) sum += static_cast<int64_t>(t.bytes());
  return sum;
}

/// Looks for a moment whether `ready` comes true, before one sleeps for it.
template <class Ready>
bool soon(Ready ready) {
  for (int i = 0; i < 200; ++i) {
    if (ready()) return true;
    if (i % 16 == 15) std::this_thread::yield();
  }
  return false;
}

/// What the thread and who waits for its elements share. Elements pass without a lock; the lock is
/// for those who sleep, and each of both sides wakes the other only where that one said it sleeps.
struct Ahead final : RefCounted {
  Ahead(Owned<Cursor> from, int64_t size)
      : most(size == kAutotune ? kFirstMost : size),
        tuned(size == kAutotune),
        input(std::move(from)) {}

  ElementQueue queue;
  std::atomic<int64_t> most;
  const bool tuned;
  std::atomic<bool> hungry{false};  // somebody sleeps until there is an element
  std::atomic<bool> full{false};    // the thread sleeps until there is as much room as `wanted`
  std::atomic<int64_t> wanted{1};
  std::atomic<bool> was_full{false};  // since `most` grew last
  std::atomic<bool> leave{false};     // the thread is to come out of the input: paused or stop

  std::mutex mutex;
  std::condition_variable changed;
  bool paused = false;   // somebody looks at the input
  bool working = false;  // the thread is in the input now
  bool ended = false;    // the input has given all
  bool stop = false;
  Owned<Cursor> input;

  int64_t room() const { return most - queue.size(); }

  // -- the thread's side

  void run() {
    DeviceScope host(cpu());
    Lifted lifted;
    std::unique_lock lock(mutex);
    while (!stop && !ended) {
      wait_for_room(lock);
      if (stop) break;
      working = true;
      lock.unlock();
      bool more = make_some();
      lock.lock();
      working = false;
      ended = !more;
      changed.notify_all();
    }
    lock.unlock();
    input = {};  // here, where it worked
  }
  void wait_for_room(std::unique_lock<std::mutex>& lock) {
    full = true;
    if (!paused && room() <= 0) was_full = true;
    changed.wait(lock, [&] { return stop || (!paused && room() >= wanted); });
    full = false;
  }
  // Makes elements while there is room for them; false at the end of the input.
  bool make_some() {
    Clock::time_point begin = Clock::now();
    int64_t count = 0;
    auto may_work = [&] { return room() > 0 || leave; };
    do {
      while (room() > 0 && !leave) {
        Item item;
        if (!made(item)) return false;
        queue.push(std::move(item));
        ++count;
        if (hungry) wake();
      }
      // Cheap elements are made many at a time: the thread sleeps until half of them are gone.
      bool cheap = Clock::now() - begin < count * kCheap;
      wanted = cheap ? std::max<int64_t>(1, most / 2) : 1;
      if (!cheap) return true;
    } while (soon(may_work) && !leave);
    return true;
  }
  bool made(Item& item) {
    try {
      return input->next(item.element);
    } catch (...) {
      item.error = std::current_exception();
      return true;
    }
  }
  void wake() {
    std::lock_guard lock(mutex);
    changed.notify_all();
  }
  void end() {
    std::lock_guard lock(mutex);
    stop = leave = true;
    changed.notify_all();
  }

  // -- for who looks at the input

  void hold(bool out) {
    paused = out;
    leave = out || stop;
  }
  bool idle() const { return !working; }

  // -- the other side

  bool take(Item& item) {
    if (!queue.pop(item) && !soon([&] { return queue.pop(item); }) && !wait(item)) return false;
    if (full && room() >= wanted) wake();
    return true;
  }
  bool wait(Item& item) {
    std::unique_lock lock(mutex);
    struct Hungry {
      explicit Hungry(Ahead& a) : of(a) { of.hungry = true; }
      ~Hungry() { of.hungry = false; }
      Ahead& of;
    } hungry_now(*this);
    wait_patiently(lock, changed, [&] { return queue.size() > 0 || ended || stop; });
    if (!queue.pop(item)) {
      if (!ended) refuse_at_the_end();
      return false;
    }
    if (tuned && was_full && most < kLastMost && 2 * most * bytes_of(item.element) <= kMostBytes) {
      was_full = false;
      most = 2 * most;
    }
    return true;
  }
};

struct Taking final : Cursor {
  Taking(Owned<Cursor> input, int64_t most, const ElementSpec& of)
      : ahead(make_ref<Ahead>(std::move(input), most)), spec(of) {}
  // The thread begins with the first element that is asked for.
  void begin_ahead() override {
    if (worker) return;
    worker = make_owned<Worker>([a = ahead] { a->run(); }, [a = ahead] { a->end(); });
  }
  bool next(Nested& out) override {
    begin_ahead();
    if (worker->elsewhere()) refuse_forked("prefetch");
    Item item;
    if (!ahead->take(item)) return false;
    if (item.error) std::rethrow_exception(item.error);
    out = std::move(item.element);
    return true;
  }
  Load load() const override {
    return {.threads = 1, .ready = ahead->queue.size(), .most = ahead->most};
  }
  void save(Saving& to) const override {
    if (worker && worker->elsewhere()) refuse_forked("prefetch");
    Pause pause(*ahead);
    to.number(ahead->ended);
    to.number(ahead->queue.size());
    ahead->queue.each([&](const Item& item) { to.made(item.element, item.error); });
    if (!ahead->ended) ahead->input->save(to);
  }
  void restore(Restoring& from) override {
    ahead->ended = from.number() != 0;
    int64_t n = from.count();
    for (int64_t i = 0; i < n; ++i) {
      MadeAhead one = restored_made(from, spec);
      ahead->queue.push({std::move(one.element), std::move(one.error)});
    }
    if (!ahead->ended) ahead->input->restore(from);
  }
  const Ref<Ahead> ahead;
  const ElementSpec spec;
  Owned<Worker> worker;
};

}  // namespace

Owned<Cursor> run_ahead(Owned<Cursor> input, int64_t most, const ElementSpec& spec) {
  return Owned<Cursor>(new Taking(std::move(input), most, spec));
}

void refuse_at_the_end() {
  fail(Code::E1501, "an element was asked for while the process was ending");
}

void refuse_forked(const char* stage) {
  fail(Code::E1105, cat("an iterator over `", stage, "` is used in a forked process"),
       "the threads that make its elements stayed in the process that began to iterate",
       {manual_fix("make the iterator in the forked process")});
}

}  // namespace holdfast::data
