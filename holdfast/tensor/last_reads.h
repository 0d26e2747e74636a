// From a value back to the variable that it was just read from.
#pragma once

#include "holdfast/tensor/tensor.h"

namespace holdfast {

/// Says that this thread has read `value` through a variable's handle.
HOLDFAST_API void note_read(const Tensor& handle, const Tensor& value);
/// The handle of the variable that this thread read `value` from, if that was one of its last reads
/// and the variable is still there; else an empty tensor. A model that is made of `x * v` is told
/// of the value of `v` alone, and has to read `v` again at each call.
HOLDFAST_API Tensor variable_behind_value(const Tensor& value);

}  // namespace holdfast
