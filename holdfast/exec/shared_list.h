// Lists of references that several threads use.
#pragma once

#include <vector>

#include "holdfast/base/mutex.h"
#include "holdfast/base/refcount.h"

namespace holdfast {

/// A list that is read as it was at one moment, and changed as a whole. Its elements are copied and
/// dropped outside of the lock: counting a reference may wait for an interpreter, and the
/// interpreter's collector may be reading the list just then.
template <class T>
class SharedList {
 public:
  using List = std::vector<T>;
  struct Moment final : RefCounted, List {
    Moment() = default;
    explicit Moment(const List& list) : List(list) {}
  };

  Ref<const Moment> read() const {
    Locked lock(mutex_);
    return list_;
  }
  /// Lets `f` change a copy, which becomes the list; again if somebody else was quicker.
  template <class F>
  void change(F&& f) {
    while (true) {
      Ref<const Moment> before = read();
      auto copy = make_ref<Moment>(static_cast<const List&>(*before));
      f(*copy);
      Ref<const Moment> after = std::move(copy);
      Locked lock(mutex_);
      if (list_ != before) continue;
      std::swap(list_, after);
      return;
    }
  }
  void clear() {
    Ref<const Moment> after = make_ref<Moment>();
    Locked lock(mutex_);
    std::swap(list_, after);
  }

 private:
  mutable Mutex mutex_;
  Ref<const Moment> list_ = make_ref<Moment>();
};

}  // namespace holdfast
