// State that outlives a step: a named place holding a tensor.
#pragma once

#include <string>

#include "holdfast/op/in.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {

struct VariableOptions {
  bool trainable = true;
  std::string name = "Variable";
  DType dtype = DType::kInvalid;    // kInvalid: the initial value's
  std::optional<Shape> shape = {};  // looser than the initial value's, if given
};

/// Copies of a Variable are the same variable.
class HOLDFAST_API Variable {
 public:
  Variable() = default;
  explicit Variable(In initial, VariableOptions = {},
                    const std::source_location& at = std::source_location::current());

  explicit operator bool() const { return static_cast<bool>(handle_); }
  /// The value now; tapes see the read.
  Tensor read() const;
  operator Tensor() const { return read(); }
  const Variable& assign(const In& value) const;
  const Variable& assign_add(const In& delta) const;
  const Variable& assign_sub(const In& delta) const;

  DType dtype() const { return state()->dtype; }
  const Shape& shape() const { return state()->shape; }
  const std::string& name() const { return state()->name; }
  bool trainable() const { return state()->trainable; }
  const Tensor& handle() const { return handle_; }
  VariableState* state() const { return variable_state(handle_); }
  bool operator==(const Variable& o) const { return state() == o.state(); }
  static Variable from_handle(Tensor handle) {
    Variable v;
    v.handle_ = std::move(handle);
    return v;
  }

 private:
  Tensor handle_;  // dtype resource
};

}  // namespace holdfast
