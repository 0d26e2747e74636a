// Elements that are made ahead of time: kept from an earlier iteration, or by another thread.
#include <mutex>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/ahead.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/of_call.h"
#include "holdfast/data/stages.h"
#include "holdfast/device/device.h"

namespace holdfast::data {
namespace {

struct Elements final : RefCounted {
  std::vector<Nested> all;
};

class Cache final : public DatasetObject, public MayBeOpen {
 public:
  explicit Cache(const Ref<DatasetObject>& input) : DatasetObject(input->spec(), {input}) {}
  const char* name() const override { return "cache"; }
  int64_t cardinality() const override { return input().cardinality(); }
  void add_open(std::vector<Tensor>& to) const override { kept_.add_open(to); }
  void save_kept(Saving& to) const override {
    Ref<Elements> all = whole();
    to.number(static_cast<bool>(all));
    if (all) save_elements(all, to);
  }
  void restore_kept(Restoring& from) const override {
    Ref<Elements> all;
    if (from.number()) all = restored_elements(from);
    from.later([kept = kept_.now(), all] {
      Ref<Elements> other = all;  // what goes, goes without the lock
      std::lock_guard lock(kept->mutex);
      std::swap(kept->whole, other);
    });
  }
  Owned<Cursor> start() const override { return started<Cache, Reading>(*this); }
  void draw_as_begun() const override {}  // its input begins with the first element

 private:
  struct Kept final : RefCounted {
    std::mutex mutex;
    Ref<Elements> whole;
  };
  Ref<Elements> whole() const {
    Ref<Kept> kept = kept_.now();
    std::lock_guard lock(kept->mutex);
    return kept->whole;
  }
  void set_whole(const Ref<Elements>& all) const {
    Ref<Kept> kept = kept_.now();
    std::lock_guard lock(kept->mutex);
    if (!kept->whole) kept->whole = all;
  }
  static void save_elements(const Ref<Elements>& elements, Saving& to) {
    if (!to.first(elements)) return;
    to.number(static_cast<int64_t>(elements->all.size()));
    for (const Nested& n : elements->all) to.element(n);
  }
  Ref<Elements> restored_elements(Restoring& from) const {
    return from.shared<Elements>([&] {
      auto out = make_ref<Elements>();
      for (int64_t n = from.count(); n > 0; --n) out->all.push_back(restored(from, spec()));
      return out;
    });
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
        stage->set_whole(kept);
        input = {};
        return false;
      }
      // What others read stays as it is.
      if (!kept->unique()) {
        auto longer = make_ref<Elements>();
        longer->all = kept->all;
        kept = std::move(longer);
      }
      kept->all.push_back(out);
      // With the last element they are whole: not everybody asks for one more. Who does is told
      // where the input does not end with it, though it promised to.
      if (static_cast<int64_t>(++at) == count) stage->set_whole(kept);
      return true;
    }
    void save(Saving& to) const override {
      // What has not begun would begin otherwise a second time: a shuffle draws anew.
      if (!begun) const_cast<Reading*>(this)->begin();
      stage->save_kept(to);
      to.number(static_cast<int64_t>(at));
      save_elements(kept, to);
      to.number(static_cast<bool>(input));
      if (input) input->save(to);
    }
    void restore(Restoring& from) override {
      begun = true;
      stage->restore_kept(from);
      at = static_cast<size_t>(from.number());
      kept = stage->restored_elements(from);
      if (at > kept->all.size()) Restoring::refuse("it is behind the end of the data");
      if (!from.number()) return;
      input = stage->input().begin();
      input->restore(from);
      count = stage->cardinality();
    }
    const StageRef<Cache> stage;
    Ref<Elements> kept;
    Owned<Cursor> input;  // while it is read for the first time
    size_t at = 0;
    int64_t count = kUnknownCardinality;
    bool begun = false;
  };
  // Elements go by what a graph's tensors are in its run: those of another run are others.
  const OfCall<Kept> kept_{[] { return make_ref<Kept>(); }};
};

class Prefetch final : public DatasetObject {
 public:
  Prefetch(const Ref<DatasetObject>& input, int64_t size)
      : DatasetObject(input->spec(), {input}), size_(size) {}
  const char* name() const override { return "prefetch"; }
  int64_t cardinality() const override { return input().cardinality(); }
  Owned<Cursor> start() const override {
    return size_ ? run_ahead(input().begin(), size_, spec()) : input().begin();
  }

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
  return Dataset(make_ref<Prefetch>(object_, buffer_size));
}

}  // namespace holdfast::data
