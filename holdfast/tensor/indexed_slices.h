#pragma once

#include "holdfast/tensor/tensor.h"

namespace holdfast {

/// Rows of a larger tensor: row `indices[i]` is `values[i]`, all others are zero. An index that
/// comes twice adds up.
struct IndexedSlices {
  Tensor values = {}, indices = {}, dense_shape = {};
};

}  // namespace holdfast
