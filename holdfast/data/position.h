// What the scalar of a loop, or of an iterator of a graph, carries from op to op.
#pragma once

#include <mutex>

#include "holdfast/data/dataset.h"

namespace holdfast::data {

struct Position final : RefCounted {
  explicit Position(Ref<IteratorObject> i) : iterator_(std::move(i)) {}
  /// One that begins when its first element is asked for; none: when `start` says of what.
  explicit Position(Ref<DatasetObject> begins) : begins_(std::move(begins)) {}
  std::string text() const override { return "a position in a dataset"; }

  /// The iterator; null where nobody has begun.
  Ref<IteratorObject> iterator() {
    std::lock_guard lock(mutex_);
    if (!iterator_ && begins_) iterator_ = make_ref<IteratorObject>(begins_);
    return iterator_;
  }
  /// Begins, or begins anew.
  void start(const Ref<DatasetObject>& of) {
    auto fresh = make_ref<IteratorObject>(of);
    std::lock_guard lock(mutex_);
    std::swap(iterator_, fresh);
  }

  Nested element;  // that a loop has come to

 private:
  std::mutex mutex_;
  Ref<IteratorObject> iterator_;
  const Ref<DatasetObject> begins_;
};

}  // namespace holdfast::data
