// Elements that are made ahead of time: kept from an earlier iteration, or by another thread.
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/ahead.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/worker.h"
#include "holdfast/device/device.h"
#include "holdfast/exec/init_scope.h"

namespace holdfast::data {
namespace {

using Kept = std::vector<Nested>;

struct Elements final : RefCounted {
  Kept all;
};

class Cache final : public DatasetObject {
 public:
  explicit Cache(const Ref<DatasetObject>& input) : DatasetObject(input->spec(), {input}) {}
  const char* name() const override { return "cache"; }
  int64_t cardinality() const override { return input().cardinality(); }
  Owned<Cursor> start() const override { return started<Cache, Reading>(*this); }

 private:
  Ref<Elements> whole() const {
    std::lock_guard lock(mutex_);
    return whole_;
  }
  void set_whole(Ref<Elements> all) const {
    std::lock_guard lock(mutex_);
    if (!whole_) whole_ = std::move(all);
  }

  // Reads what an earlier iteration left, or keeps what it reads; that counts once it is whole.
  struct Reading final : Cursor {
    explicit Reading(const Cache& s) : stage(&s) {}
    void begin() {
      begun = true;
      kept = stage->whole();
      if (kept) return;
      kept = make_ref<Elements>();
      input = stage->input().begin();
    }
    bool next(Nested& out) override {
      if (!begun) begin();
      if (at < kept->all.size()) {
        out = kept->all[at++];
        return true;
      }
      if (!input) return false;
      if (!input->next(out)) {
        stage->set_whole(kept);
        input = {};
        return false;
      }
      kept->all.push_back(out);
      ++at;
      return true;
    }
    void save(Saving& to) const override {
      // What has not begun would begin otherwise a second time: a shuffle draws anew.
      if (!begun) const_cast<Reading*>(this)->begin();
      to.number(static_cast<int64_t>(at));
      to.number(static_cast<int64_t>(kept->all.size()));
      for (const Nested& n : kept->all) to.element(n);
      to.number(static_cast<bool>(input));
      if (input) input->save(to);
    }
    void restore(Restoring& from) override {
      begun = true;
      at = static_cast<size_t>(from.number());
      int64_t n = from.count();
      kept = make_ref<Elements>();
      for (int64_t i = 0; i < n; ++i) kept->all.push_back(from.element());
      if (at > kept->all.size()) Restoring::refuse("it is behind the end of the data");
      if (from.number()) {
        input = stage->input().begin();
        input->restore(from);
      } else {
        stage->set_whole(kept);
      }
    }
    const Ref<const Cache> stage;
    Ref<Elements> kept;
    Owned<Cursor> input;  // while it is read for the first time
    size_t at = 0;
    bool begun = false;
  };
  mutable std::mutex mutex_;
  mutable Ref<Elements> whole_;
};

/// What the thread and who waits for its elements share.
struct Ahead final : RefCounted {
  struct Item {
    Nested element;
    std::exception_ptr error;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Item> ready;
  size_t most = 0;
  bool paused = false;   // somebody looks at the input
  bool working = false;  // the thread is in the input now
  bool ended = false;    // the input has given all
  bool stop = false;
  Owned<Cursor> input;

  bool may_work() const { return !paused && ready.size() < most; }

  void run() {
    DeviceScope host(cpu());
    Lifted lifted;
    std::unique_lock lock(mutex);
    while (!stop && !ended) {
      changed.wait(lock, [&] { return stop || may_work(); });
      if (stop) break;
      working = true;
      lock.unlock();
      Item item;
      bool there = made(item);
      lock.lock();
      working = false;
      if (there)
        ready.push_back(std::move(item));
      else
        ended = true;
      changed.notify_all();
    }
    lock.unlock();
    input = {};  // here, where it worked
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
    stop = true;
    changed.notify_all();
  }
};

struct Taking final : Cursor {
  Taking(Owned<Cursor> input, int64_t most) : ahead(make_ref<Ahead>()) {
    ahead->input = std::move(input);
    ahead->most = static_cast<size_t>(most);
  }
  // The thread begins with the first element that is asked for.
  void begin_ahead() override {
    if (worker) return;
    worker = make_owned<Worker>([a = ahead] { a->run(); }, [a = ahead] { a->wake(); });
  }
  bool next(Nested& out) override {
    begin_ahead();
    if (worker->elsewhere()) refuse_forked("prefetch");
    Ahead::Item item;
    if (!take(item)) return false;
    if (item.error) std::rethrow_exception(item.error);
    out = std::move(item.element);
    return true;
  }
  bool take(Ahead::Item& item) {
    std::unique_lock lock(ahead->mutex);
    wait_patiently(lock, ahead->changed,
                   [&] { return !ahead->ready.empty() || ahead->ended || ahead->stop; });
    if (ahead->ready.empty() && !ahead->ended)
      fail(Code::E1501, "an element was asked for while the process was ending");
    if (ahead->ready.empty()) return false;
    item = std::move(ahead->ready.front());
    ahead->ready.pop_front();
    ahead->changed.notify_all();
    return true;
  }
  Load load() const override {
    std::lock_guard lock(ahead->mutex);
    return {.threads = 1,
            .ready = static_cast<int64_t>(ahead->ready.size()),
            .most = static_cast<int64_t>(ahead->most)};
  }
  /// Keeps the thread out of the input.
  struct Pause {
    explicit Pause(const Taking& t) : taking(t), lock(t.ahead->mutex) {
      t.ahead->paused = true;
      try {
        wait_patiently(lock, t.ahead->changed, [&] { return !t.ahead->working; });
      } catch (...) {
        end();
        throw;
      }
    }
    ~Pause() { end(); }
    void end() {
      if (!lock.owns_lock()) lock.lock();
      taking.ahead->paused = false;
      taking.ahead->changed.notify_all();
    }
    const Taking& taking;
    std::unique_lock<std::mutex> lock;
  };
  void save(Saving& to) const override {
    if (worker && worker->elsewhere()) refuse_forked("prefetch");
    Pause pause(*this);
    to.number(ahead->ended);
    to.number(static_cast<int64_t>(ahead->ready.size()));
    for (const Ahead::Item& item : ahead->ready) {
      if (item.error) std::rethrow_exception(item.error);
      to.element(item.element);
    }
    if (!ahead->ended) ahead->input->save(to);
  }
  void restore(Restoring& from) override {
    ahead->ended = from.number() != 0;
    int64_t n = from.count();
    for (int64_t i = 0; i < n; ++i) ahead->ready.push_back({from.element(), nullptr});
    if (!ahead->ended) ahead->input->restore(from);
  }
  const Ref<Ahead> ahead;
  Owned<Worker> worker;
};

class Prefetch final : public DatasetObject {
 public:
  Prefetch(const Ref<DatasetObject>& input, int64_t size)
      : DatasetObject(input->spec(), {input}), size_(size) {}
  const char* name() const override { return "prefetch"; }
  int64_t cardinality() const override { return input().cardinality(); }
  Owned<Cursor> start() const override { return run_ahead(input().begin(), size_); }

 private:
  const int64_t size_;
};

class OnDevice final : public DatasetObject {
 public:
  OnDevice(const Ref<DatasetObject>& input, Device* device)
      : DatasetObject(input->spec(), {input}), device_(device) {}
  const char* name() const override { return "to_device"; }
  int64_t cardinality() const override { return input().cardinality(); }
  Owned<Cursor> start() const override { return started<OnDevice, Copying>(*this); }

 private:
  struct Copying final : Cursor {
    explicit Copying(const OnDevice& s) : device(s.device_), input(s.input().begin()) {}
    bool next(Nested& out) override {
      if (!input->next(out)) return false;
      out = out.map([&](const Tensor& t) {
        // Texts stay where they are: no device but the host holds them.
        return t.dtype() == DType::kString ? t : copy_to(t, device);
      });
      return true;
    }
    void save(Saving& to) const override { input->save(to); }
    void restore(Restoring& from) override { input->restore(from); }
    Device* const device;
    Owned<Cursor> input;
  };
  Device* const device_;
};

}  // namespace

Owned<Cursor> run_ahead(Owned<Cursor> input, int64_t most) {
  return Owned<Cursor>(new Taking(std::move(input), most));
}

void refuse_forked(const char* stage) {
  fail(Code::E1105, cat("an iterator over `", stage, "` is used in a forked process"),
       "the threads that make its elements stayed in the process that began to iterate",
       {manual_fix("make the iterator in the forked process")});
}

Dataset Dataset::cached() const { return Dataset(make_ref<Cache>(object_)); }

Dataset Dataset::placed(Device* device) const {
  if (!device) fail(Code::E1104, "`to_device` was given no device");
  refuse_datasets(element_spec(), "to_device");
  return Dataset(make_ref<OnDevice>(object_, device));
}

Dataset Dataset::prefetched(int64_t buffer_size) const {
  if (buffer_size < 0 && buffer_size != kAutotune)
    fail(Code::E1103, cat("`buffer_size` of `prefetch` is ", buffer_size,
                          ", expected 0 or more, or -1 for what suits"));
  if (buffer_size == 0) return *this;
  return Dataset(make_ref<Prefetch>(object_, buffer_size == kAutotune ? 2 : buffer_size));
}

}  // namespace holdfast::data
