// What a stage keeps from one iteration to the next, where it is made in a graph: each run of the
// graph begins it anew.
#pragma once

#include <mutex>
#include <vector>

#include "holdfast/base/callback.h"
#include "holdfast/base/refcount.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast::data {

class OfCallBase {
 public:
  /// Adds the node's symbol, where what is written now can use it.
  void add_open(std::vector<Tensor>& to) const;

 protected:
  OfCallBase();
  Ref<RefCounted> found(const Callback<Ref<RefCounted>()>& make) const;

 private:
  const Tensor symbol_;  // of a node that makes a fresh place in each run; else undefined
  mutable std::mutex mutex_;
  mutable Ref<RefCounted> own_;  // of iterations that no run of the graph has begun
};

/// One T for each run of the graph that the stage is made in, and one for all where there is none.
template <class T>
class OfCall : public OfCallBase {
 public:
  explicit OfCall(Callback<Ref<T>()> fresh) : fresh_(std::move(fresh)) {}
  /// That of the iteration which this thread works for.
  Ref<T> now() const {
    return Ref<T>(static_cast<T*>(found([this]() -> Ref<RefCounted> { return fresh_(); }).get()));
  }

 private:
  const Callback<Ref<T>()> fresh_;
};

}  // namespace holdfast::data
