// Sparse gradients: joining them, and making them dense.
#include "holdfast/autodiff/tape.h"
#include "holdfast/ops/array.h"

namespace holdfast {

Tensor Gradient::tensor() const { return slices ? to_dense(*slices) : dense; }

}  // namespace holdfast
