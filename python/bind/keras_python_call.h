// A call of a layer with a `call` in Python, on symbols.
#pragma once

#include "holdfast/keras/symbol.h"
#include "python/bind/keras_layer.h"

namespace holdfast::py {

class PythonCall final : public keras::LayerCall {
 public:
  PythonCall(keras::Layer& of, PyObject* args, PyObject* kwargs);

  std::vector<Tensor> tensors;  // what it was called with; whoever records it takes them

  Nested replay_on(keras::Layer& other, std::span<const Tensor> given,
                   std::optional<bool> around) const override;
  /// Calls `f(*args, **kwargs)`, with `first` in front where it is given.
  Nested call_with(PyObject* f, const PyRef& first, std::span<const Tensor> given,
                   std::optional<bool> around) const;
  bool runs_foreign_code() const override { return true; }
  Nested arguments_with(std::span<const Tensor> used) const override;

 private:
  Callable args_, kwargs_;
};

}  // namespace holdfast::py
