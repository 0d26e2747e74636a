// What the program's line calls things, for those who refuse outside of ops.
#pragma once

#include <string>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

/// What the line that is executing calls a tensor, wherever in it that stands; "" if unknown.
HOLDFAST_API std::string words_for(const Tensor&);

}  // namespace holdfast
