// Matrices.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast {

struct MatMulOptions {
  bool transpose_a = false, transpose_b = false;
};
/// Matrix product of the last two axes; leading axes are batches and broadcast.
HOLDFAST_API Tensor matmul(const In& a, const In& b, const MatMulOptions& = {});

}  // namespace holdfast
