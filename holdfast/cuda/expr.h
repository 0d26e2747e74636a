// Elementwise work on a GPU: one kernel per expression, access pattern and dtypes.
#pragma once

#include <span>

#include "holdfast/cuda/device.h"
#include "holdfast/cuda/source.h"

namespace holdfast::cuda {

/// out[i] = expression(in[0][i], in[1][i], ...), operands broadcast to out's shape. A one-element
/// operand may live on the host. `expression` must outlive the process; its address is part of the
/// key.
Status run_expression(CudaDevice&, const char* expression, std::span<const Tensor> in,
                      const Tensor& out);
/// Why the expression can't run for such operands; null if it can. Compiles, if that was not done
/// yet.
const char* refuse_expression(CudaDevice&, const char* expression, std::span<const Tensor> in,
                              DType out, const Shape& shape);

}  // namespace holdfast::cuda
