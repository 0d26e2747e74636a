// The raw ops behind the public pools.
#pragma once

#include "holdfast/op/op.h"

namespace holdfast::nn {

/// Pools over two and three axes, all with the attributes strides, padding, data_format, ksize.
extern const Op max_pool_op, max_pool3d_op, avg_pool_op, avg_pool3d_op;

}  // namespace holdfast::nn
