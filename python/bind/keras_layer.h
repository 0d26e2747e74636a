// What Python's layers and what C++ asks them have in common.
#pragma once

#include "python/bind/keras.h"

namespace holdfast::py {

/// Calls a layer's own methods with the arguments that they take; set by the package.
struct LayerCalls {
  Object build, call, mask, from_python, check_inputs;
};
LayerCalls& layer_calls();

inline PyObject* truth_object(const std::optional<bool>& b) {
  return !b ? Py_None : *b ? Py_True : Py_False;
}

void set_layer_hooks();

/// Calls `f(layer, *args, **kwargs)` with the arguments of a call, on other tensors.
Nested called_through(PyObject* f, keras::Layer& layer, const keras::LayerCall& call,
                      std::span<const Tensor> inputs);

}  // namespace holdfast::py
