// What neural networks are made of.
#pragma once

#include "holdfast/op/by_axes.h"

namespace holdfast::nn {

struct SoftmaxOptions {
  std::optional<int64_t> axis = {};  // none: the last
};
/// exp(x) over its sum along an axis.
HOLDFAST_API Tensor softmax(const In& logits, const SoftmaxOptions& = {});
HOLDFAST_AXIS_OVERLOAD(softmax, In, SoftmaxOptions)
/// log(softmax(x)) along an axis, without underflow.
HOLDFAST_API Tensor log_softmax(const In& logits, const SoftmaxOptions& = {});
HOLDFAST_AXIS_OVERLOAD(log_softmax, In, SoftmaxOptions)

}  // namespace holdfast::nn
