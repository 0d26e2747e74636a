#pragma once

#include <string>

#include "holdfast/op/op.h"
#include "holdfast/ops/array/view.h"

namespace holdfast {

/// The shape of input 0 padded by the table in input 1; refuses tables that do not fit.
Shape padded_shape(const Infer& s);
/// Padding by reflection; `mode` is REFLECT or SYMMETRIC.
Tensor mirror_pad(const In& tensor, const In& paddings, const std::string& mode);

}  // namespace holdfast
