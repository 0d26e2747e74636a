// What is said when training finds no gradient at all.
#pragma once

#include "holdfast/autodiff/tape.h"
#include "holdfast/keras/model.h"

namespace holdfast::keras {

/// Refuses a loss from which no gradient reaches any weight: for each, where its path is cut.
[[noreturn]] void refuse_no_gradients(const ModelLayer& model, const GradientTape& tape,
                                      const Tensor& loss, const std::vector<Variable>& weights);

}  // namespace holdfast::keras
