// Softmax and its gradient by machine code.
#pragma once

#include "holdfast/op/opdef.h"

namespace holdfast {

/// Refuses where the loops are as fast, or would give other bits.
Preparation prepare_softmax_code(const Types&);
Preparation prepare_softmax_gradient_code(const Types&);
/// Runs what either prepared.
Status run_softmax_code(Call&, const Prepared&);

}  // namespace holdfast
