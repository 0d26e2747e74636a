// Elements that are made ahead of time: kept from an earlier iteration, or by another thread.
#include <mutex>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/ahead.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/stages.h"
#include "holdfast/device/device.h"

namespace holdfast::data {
namespace {

using Kept = std::vector<Nested>;

struct Elements final : RefCounted {
  Kept all;
};

class Cache final : public DatasetObject {
 public:
  explicit Cache(const Ref<DatasetObject>& input)
      : DatasetObject(input->spec(), {input}), open_(!open_tensors(*input).empty()) {}
  const char* name() const override { return "cache"; }
  int64_t cardinality() const override { return input().cardinality(); }
  Owned<Cursor> start() const override { return started<Cache, Reading>(*this); }

 private:
  // What elements go by that are made of a graph's tensors: those of another run are others.
  Ref<Bound> run() const {
    return open_ && Working::current() ? Working::current()->bound : Ref<Bound>();
  }
  Ref<Elements> whole(const Ref<Bound>& run) const {
    std::lock_guard lock(mutex_);
    return whole_of_.get() == run.get() ? whole_ : Ref<Elements>();
  }
  void set_whole(Ref<Elements> all, const Ref<Bound>& run) const {
    std::lock_guard lock(mutex_);
    if (whole_ && whole_of_.get() == run.get()) return;
    whole_ = std::move(all);
    whole_of_ = run;
  }

  // Reads what an earlier iteration left, or keeps what it reads; that counts once it is whole.
  struct Reading final : Cursor {
    explicit Reading(const Cache& s) : stage(&s) {}
    void begin() {
      begun = true;
      run = stage->run();
      kept = stage->whole(run);
      if (kept) return;
      kept = make_ref<Elements>();
      input = stage->input().begin();
      count = stage->cardinality();
    }
    bool next(Nested& out) override {
      if (!begun) begin();
      if (at < kept->all.size()) {
        out = kept->all[at++];
        return true;
      }
      if (!input) return false;
      if (!input->next(out)) {
        stage->set_whole(kept, run);
        input = {};
        return false;
      }
      kept->all.push_back(out);
      // With the last element they are whole: not everybody asks for one more. Who does is told
      // where the input does not end with it, though it promised to.
      if (static_cast<int64_t>(++at) == count) {
        auto all = make_ref<Elements>();
        all->all = kept->all;
        stage->set_whole(std::move(all), run);
      }
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
      run = stage->run();
      at = static_cast<size_t>(from.number());
      int64_t n = from.count();
      kept = make_ref<Elements>();
      for (int64_t i = 0; i < n; ++i) kept->all.push_back(restored(from, stage->spec()));
      if (at > kept->all.size()) Restoring::refuse("it is behind the end of the data");
      if (from.number()) {
        input = stage->input().begin();
        input->restore(from);
        count = stage->cardinality();
      } else {
        stage->set_whole(kept, run);
      }
    }
    const StageRef<Cache> stage;
    Ref<Bound> run;
    Ref<Elements> kept;
    Owned<Cursor> input;  // while it is read for the first time
    size_t at = 0;
    int64_t count = kUnknownCardinality;
    bool begun = false;
  };
  const bool open_;
  mutable std::mutex mutex_;
  mutable Ref<Elements> whole_;
  mutable Ref<Bound> whole_of_;
};

class Prefetch final : public DatasetObject {
 public:
  Prefetch(const Ref<DatasetObject>& input, int64_t size)
      : DatasetObject(input->spec(), {input}), size_(size) {}
  const char* name() const override { return "prefetch"; }
  int64_t cardinality() const override { return input().cardinality(); }
  Owned<Cursor> start() const override { return run_ahead(input().begin(), size_, spec()); }

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
  return Dataset(make_ref<Prefetch>(object_, buffer_size));
}

}  // namespace holdfast::data
