// Operands of functions that look at them before they call an op.
#pragma once

#include <utility>

#include "holdfast/op/in.h"

namespace holdfast {

/// Both as tensors; a number takes the dtype of the other.
inline std::pair<Tensor, Tensor> both(const In& x, const In& y) {
  if (!x.weak()) {
    Tensor first = x;
    DType d = first.defined() ? first.dtype() : DType::kInvalid;
    return {std::move(first), y.tensor(d)};
  }
  Tensor second = y.weak() ? Tensor() : y.tensor();
  Tensor first = x.tensor(second.defined() ? second.dtype() : DType::kInvalid);
  if (!second.defined()) second = y.tensor(first.dtype());
  return {std::move(first), std::move(second)};
}

}  // namespace holdfast
