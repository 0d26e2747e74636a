// Variables that a finished trace uses and does not hold itself.
#pragma once

#include "holdfast/tensor/variable_state.h"
#include "python/bind/object.h"

namespace holdfast::py {

/// A handle of a variable that does not count for it, and the Python object that keeps the variable
/// alive meanwhile, in sight of the collector. Once that object is gone, the handle leads to a
/// variable of the same name that has no value.
struct LentHandle {
  Tensor handle;
  Object keeper;
};
/// For a handle of a variable; empty for others, and for variables of graphs that are written by
/// hand. A handle that is lent already stays as it is, and has one keeper. With the GIL.
LentHandle lend_handle(const Tensor& handle);

}  // namespace holdfast::py
