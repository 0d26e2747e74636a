// What the scalar of a loop, or of an iterator of a graph, carries from op to op.
#pragma once

#include <mutex>

#include "holdfast/data/bound.h"
#include "holdfast/data/dataset.h"
#include "holdfast/op/opdef.h"

namespace holdfast::data {

struct Position final : RefCounted {
  explicit Position(Ref<IteratorObject> i) : iterator_(std::move(i)) {}
  /// One that begins when its first element is asked for; none: when `start` says of what.
  explicit Position(Ref<DatasetObject> begins) : begins_(std::move(begins)) {}
  std::string text() const override { return "a position in a dataset"; }

  /// The iterator; null where nobody has begun.
  Ref<IteratorObject> iterator() {
    std::lock_guard lock(mutex_);
    if (!iterator_ && begins_) iterator_ = make_ref<IteratorObject>(begins_, bound_);
    return iterator_;
  }
  /// Begins, or begins anew.
  void start(const Ref<DatasetObject>& of, Ref<Bound> bound) {
    auto fresh = make_ref<IteratorObject>(of, std::move(bound));
    std::lock_guard lock(mutex_);
    std::swap(iterator_, fresh);
  }
  /// What one that begins by itself begins with.
  void bind(Ref<Bound> bound) {
    std::lock_guard lock(mutex_);
    if (!iterator_) bound_ = std::move(bound);
  }

  Nested element;  // that a loop has come to

 private:
  std::mutex mutex_;
  Ref<IteratorObject> iterator_;
  const Ref<DatasetObject> begins_;
  Ref<Bound> bound_;
};

/// A dataset that is part of a graph, with those of the graph's tensors that it is made of: inputs
/// of the op that begins an iteration.
struct OpenDataset final : RefCounted {
  explicit OpenDataset(const Ref<DatasetObject>& of) : dataset(of), symbols(open_tensors(*of)) {}
  std::string text() const override { return dataset->text(); }
  /// The values that a call of the op has, from its input `first` on.
  Ref<Bound> bound(const Call& c, int first) const {
    if (symbols.empty()) return nullptr;
    auto out = make_ref<Bound>();
    out->symbols = symbols;
    for (int i = first; i < c.inputs(); ++i) out->values.push_back(c.in(i));
    return out;
  }
  const Ref<DatasetObject> dataset;
  const std::vector<Tensor> symbols;
};

}  // namespace holdfast::data
