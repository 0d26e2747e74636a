// A convolution and the elementwise ops that follow it, as one op.
#pragma once

#include "holdfast/op/op.h"

namespace holdfast::nn {

/// The op that does what `conv` does and then what an expression says; null where there is none.
/// Its inputs are those of the convolution, and then those of the expression but for the one that
/// is the convolution's result; its attributes the window's, `expression`, and `position`, the
/// place of that result among the expression's inputs.
HOLDFAST_API const OpDef* followed_op(const OpDef& conv);
/// Its attributes, from those of the convolution.
HOLDFAST_API Attrs followed_attrs(const Attrs& conv, Ref<RefCounted> expression, size_t position);

}  // namespace holdfast::nn
