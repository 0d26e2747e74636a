// What a Variable is underneath: a place that holds the current value.
#pragma once

#include <string>

#include "holdfast/base/mutex.h"
#include "holdfast/base/patient_lock.h"
#include "holdfast/tensor/resource.h"

namespace holdfast {

/// A rule that values of a variable keep: to be positive, to have at most a length.
class HOLDFAST_API Constraint : public Object {
 public:
  static const ObjectClass kClass;
  const ObjectClass& object_class() const override { return kClass; }
  virtual Tensor operator()(const Tensor& value) const = 0;
};

/// Reads and assigns are atomic: a reader gets one whole value, old or new.
class HOLDFAST_API VariableState final : public Resource {
 public:
  static const ResourceKind kKind;
  static const ObjectClass kClass;
  VariableState(std::string called, DType of, Shape sizes, bool trains)
      : Resource(kKind),
        name(std::move(called)),
        dtype(of),
        shape(std::move(sizes)),
        trainable(trains) {}

  const ObjectClass& object_class() const override { return kClass; }
  void visit(Visitor& see) const override { see.child(constraint); }
  void clear() override { constraint = nullptr; }
  std::string text() const override { return "the variable `" + name + "`"; }

  Tensor get() const {
    PatientLock lock(mutex_);
    return value_;
  }
  void set(Tensor t) {
    PatientLock lock(mutex_);
    std::swap(value_, t);  // the old value dies outside the lock's critical work
  }
  /// Takes the value out, so that its holder may change it in place; `set` must follow.
  Tensor take() {
    PatientLock lock(mutex_);
    return std::exchange(value_, Tensor());
  }
  /// Calls `f` on the value while nobody else can read or set it.
  template <class F>
  auto update(F&& f) {
    PatientLock lock(mutex_);
    return f(value_);
  }

  const std::string name;
  const DType dtype;
  const Shape shape;  // may have unknown dimensions
  const bool trainable;
  Where born = nullptr;
  Ref<RefCounted> graph;  // the Scope of the graph it is part of: each session has a value of its
                          // own; else null
  /// What an optimizer makes of the value after an update; null where there is none.
  Ref<Constraint> constraint;

 private:
  mutable Mutex mutex_;
  Tensor value_;
};

/// The state behind a resource that is a variable; null for other resources (a generator, a table).
inline VariableState* variable_behind(const Tensor& resource) {
  return resource_behind<VariableState>(resource);
}
/// The state behind a variable's handle. Throws for any other tensor.
inline VariableState* variable_state(const Tensor& handle) {
  VariableState* state = variable_behind(handle);
  if (!state) wrong_resource(handle, VariableState::kKind);
  return state;
}

}  // namespace holdfast
