#pragma once

#include "holdfast/autodiff/recorder.h"

namespace holdfast {

/// Whether an operand's rank is only known when the program runs, and formulas read ranks.
bool needs_ranks(const Record& r);

/// The gradients of a record's inputs, by its formula once the values are there. Empty for inputs
/// that are not `wanted`.
Tensors deferred_formula(const Record& r, const Tensors& upstream, uint32_t wanted);

}  // namespace holdfast
