// What neural networks are made of.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::nn {

/// exp(x) over its sum along the last axis.
HOLDFAST_API Tensor softmax(const In& logits);

}  // namespace holdfast::nn
