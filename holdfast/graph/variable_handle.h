// Variables by hand.
#pragma once

#include <string>
#include <vector>

#include "holdfast/op/variable.h"

namespace holdfast {

struct VariableHandleOptions {
  std::string container = {}, shared_name = {}, debug_name = {};
  std::vector<std::string> allowed_devices = {};
};
/// The handle of a new variable, which has no value before one is assigned. In a graph a name that
/// a variable there has already (`shared_name`) gives the handle of that one.
HOLDFAST_API Tensor variable_handle(DType dtype, const Shape& shape,
                                    const VariableHandleOptions& = {});

}  // namespace holdfast
