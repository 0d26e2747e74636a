// Weights of examples, as losses and metrics apply them.
#pragma once

#include "holdfast/tensor/tensor.h"

namespace holdfast::keras {

/// Weights that multiply values: the weight of an example is that of each of its steps.
Tensor for_each_step(Tensor weights, const Tensor& values);

/// Weights that leave out what a mask does: either may be of examples and the other of their steps.
Tensor where_counted(const Tensor& weights, const Tensor& mask, DType dtype);

/// What metrics gather of a batch: one value for each example, and its weight, empty where there
/// are none.
struct Samples {
  Tensor values, weights;
};
/// Values of each step, weighted, as their mean or sum for each example. An example counts as much
/// as another, however many steps it has.
Samples samples_of(Tensor values, Tensor weights, bool mean);

}  // namespace holdfast::keras
