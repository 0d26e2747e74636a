// State that outlives a step: a named place holding a tensor.
#pragma once

#include <string>

#include "holdfast/op/in.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {

class VariablePart;  // ops/indexing.h

struct VariableOptions {
  bool trainable = true;
  std::string name = "Variable";
  DType dtype = DType::kInvalid;    // kInvalid: the initial value's
  std::optional<Shape> shape = {};  // looser than the initial value's, if given
  Ref<Constraint> constraint = {};
};

/// Copies of a Variable are the same variable.
class HOLDFAST_API Variable {
 public:
  Variable() = default;
  [[gnu::always_inline]] explicit Variable(
      const In& initial, const VariableOptions& options = {},
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    make(initial, options);
  }

  // A template, so that `Variable(0)` is a number and no null pointer.
  template <std::same_as<VariableState> S>
  explicit Variable(Ref<S> state) : state_(std::move(state)) {}

  /// Whether it refers to anything: one that was only declared does not.
  bool defined() const { return state_ || handle_.defined(); }
  /// The value now; tapes see the read.
  [[gnu::always_inline]] Tensor read(
      const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    return now();
  }
  [[gnu::always_inline]] Tensor value(
      const std::source_location& at = std::source_location::current()) const {
    return read(at);
  }
  /// What `read` gives, as numbers of C++.
  template <class T>
  T item(const std::source_location& at = std::source_location::current()) const {
    return read(at).template item<T>(at);
  }
  template <class T>
  std::vector<T> to_vector(const std::source_location& at = std::source_location::current()) const {
    return read(at).template to_vector<T>(at);
  }
  /// A part of it, to be read or assigned to: `v[0] = 1.f`, `v(slice(1, 3), all)`.
  VariablePart operator[](const Index& item) const;
  template <class... More>
  VariablePart operator()(const Index& first, const More&... more) const;
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_same_v<T, Tensor> ||
             std::is_same_v<T, VariablePart>)
  void operator=(const T& value) = delete;  // write `v.assign(value)`, or `v.assign_add(1)`
  const Variable& assign(const In& value) const;
  const Variable& assign_add(const In& delta) const;
  const Variable& assign_sub(const In& delta) const;

  DType dtype() const { return state()->dtype; }
  const Shape& shape() const { return state()->shape; }
  int rank() const { return shape().rank(); }
  int64_t dim(int axis) const { return shape()[axis]; }
  int64_t size() const { return shape().size(); }
  const std::string& name() const { return state()->name; }
  bool trainable() const { return state()->trainable; }
  /// The device that holds the value; null in a graph, where each session has one of its own.
  Device* device() const {
    Tensor now = state()->get();
    return now.defined() ? now.device() : nullptr;
  }
  const Ref<Constraint>& constraint() const { return state()->constraint; }
  const Tensor& handle() const {
    if (!defined()) [[unlikely]]
      refuse_undefined();
    return state_ ? state_->handle() : handle_;
  }
  VariableState* state() const { return state_ ? state_.get() : variable_state(handle()); }
  bool operator==(const Variable& o) const { return state() == o.state(); }
  /// The variable that a handle leads to, also one that only a run will know.
  static Variable from_handle(Tensor handle) {
    if (VariableState* state = variable_behind(handle)) return Variable(Ref<VariableState>(state));
    Variable v;
    v.handle_ = std::move(handle);
    return v;
  }

 private:
  void make(const In& initial, VariableOptions);
  Tensor now() const;
  [[noreturn]] static void refuse_undefined();

  // Each copy is a reference to the state itself, so that whoever walks over the objects of a
  // program can count them.
  Ref<VariableState> state_;
  Tensor handle_;  // where there is no state: a symbol of dtype resource
};

[[gnu::always_inline]] inline Tensor::Tensor(const Variable& v, const std::source_location& at)
    : Tensor(v.read(at)) {}

}  // namespace holdfast
