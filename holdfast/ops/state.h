// Questions about variables. What reads and changes them are `Variable`'s own functions.
#pragma once

#include "holdfast/op/variable.h"

namespace holdfast {

/// Whether a variable has a value, as a scalar. One of a graph gets its initial value in a session
/// when it is first read; this is no read.
HOLDFAST_API Tensor is_initialized(const Variable& variable);

}  // namespace holdfast
