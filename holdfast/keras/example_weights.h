// Weights of examples, as losses and metrics apply them.
#pragma once

#include "holdfast/tensor/tensor.h"

namespace holdfast::keras {

/// Weights that multiply values: the weight of an example is that of each of its steps.
Tensor for_each_step(Tensor weights, const Tensor& values);

}  // namespace holdfast::keras
