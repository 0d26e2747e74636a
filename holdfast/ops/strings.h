// Strings.
#pragma once

#include <string>

#include "holdfast/op/in.h"

namespace holdfast::strings {

struct JoinOptions {
  std::string separator;
};
/// Strings put together element by element; scalars go with every element.
HOLDFAST_API Tensor join(const Ins& inputs, const JoinOptions& = {});

struct ReduceJoinOptions {
  Axes axis = {};
  bool keepdims = false;
  std::string separator;
};
/// Strings put together over axes: first along the one that is named first.
HOLDFAST_API Tensor reduce_join(const In& inputs, const ReduceJoinOptions& = {});

}  // namespace holdfast::strings
