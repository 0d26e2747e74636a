// Regression by sequences that only fall, or only rise.
#pragma once

#include <tuple>

#include "holdfast/op/in.h"

namespace holdfast::nn {

struct IsotonicOptions {
  bool decreasing = true;
  int64_t axis = -1;
};
/// The sequence nearest to `inputs` along an axis that never rises (or never falls), and the number
/// of the run of equal values that each element belongs to.
HOLDFAST_API std::tuple<Tensor, Tensor> isotonic_regression(const In& inputs,
                                                            const IsotonicOptions& = {});

}  // namespace holdfast::nn
