// Where an attribute's tensor is, and what a trace does with it.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "holdfast/exec/attribute.h"
#include "holdfast/exec/trace_state.h"

namespace holdfast {

namespace detail {
class BoundPlace;
struct BoundValue;
}  // namespace detail
class Tracer;

/// What copies of an attribute share.
class TensorAttribute::Place final : public RefCounted {
 public:
  explicit Place(std::string called) : name(std::move(called)) {}
  Tensor get() const {
    std::lock_guard lock(mutex_);
    return value_;
  }
  void set(Tensor t) {
    std::lock_guard lock(mutex_);
    std::swap(value_, t);
  }
  const std::string name;

 private:
  mutable std::mutex mutex_;
  Tensor value_;
};

/// The attributes that one trace reads and assigns.
class HOLDFAST_API AttributeRecord {
 public:
  /// In force on this thread while it lives.
  explicit AttributeRecord(Tracer& tracer);
  ~AttributeRecord();
  AttributeRecord(const AttributeRecord&) = delete;
  /// The record that code which runs now belongs to; null where there is none.
  static AttributeRecord* current();

  Tensor read(const Ref<TensorAttribute::Place>& place);
  bool holds(const Ref<TensorAttribute::Place>& place);
  void assign(const Ref<TensorAttribute::Place>& place, Tensor value);
  /// The code goes by a plain value that is bound.
  void went_by(const detail::BoundPlace& place, Ref<const detail::BoundValue> value);

  /// Ends it: appends what was assigned to the outputs. Null where no attribute took part.
  Ref<TraceState> finish(Tensors& outputs);

 private:
  struct Use;
  struct Bound;
  Use& use_of(const Ref<TensorAttribute::Place>& place);

  Tracer& tracer_;
  std::vector<Use> uses_;
  std::vector<Bound> bounds_;
  AttributeRecord* around_;
};

}  // namespace holdfast
