// Numbers that options hold: one, or lists of them.
#pragma once

#include "holdfast/base/config.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast::keras::layers {

/// A number, or nested lists of numbers, as a tensor. Anything else is refused by the name of
/// `what`.
Tensor numbers(const Config& value, DType dtype, const std::string& what);

}  // namespace holdfast::keras::layers
