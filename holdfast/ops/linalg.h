// Matrices.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast {

struct MatMulOptions {
  bool transpose_a = false, transpose_b = false;
  bool adjoint_a = false, adjoint_b = false;      // transposed and conjugated
  bool a_is_sparse = false, b_is_sparse = false;  // hints; the result is the same
  std::optional<DType> output_type = {};          // int32 for the product of (u)int8 matrices
  bool grad_a = false, grad_b = false;            // hints: an operand is a gradient
};
/// Matrix product of the last two axes; leading axes are batches and broadcast.
HOLDFAST_API Tensor matmul(const In& a, const In& b, const MatMulOptions& = {});

}  // namespace holdfast
