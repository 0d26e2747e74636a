// Moving elements: shapes, views, copies.
#pragma once

#include "holdfast/op/in.h"
#include "holdfast/tensor/indexed_slices.h"

namespace holdfast {

/// The same elements in another shape; one dimension may be -1 and is worked out.
HOLDFAST_API Tensor reshape(const In& tensor, const Sizes& shape);
/// Repeated along axes of size 1 and new leading axes until it has `shape`.
HOLDFAST_API Tensor broadcast_to(const In& input, const Sizes& shape);
/// A tensor like `t` of zeros.
HOLDFAST_API Tensor zeros_like(const In& input);
/// A tensor like `t` of ones.
HOLDFAST_API Tensor ones_like(const In& input);
/// The same value under a new identity.
HOLDFAST_API Tensor identity(const In& input);
/// `value` everywhere.
HOLDFAST_API Tensor fill(const Sizes& dims, const In& value);

/// The values one after another along `axis`.
HOLDFAST_API Tensor concat(const Ins& values, int64_t axis);
/// Sparse rows as one dense tensor; rows that come twice add up.
HOLDFAST_API Tensor to_dense(const IndexedSlices&);
/// All rows of several in one.
HOLDFAST_API IndexedSlices concat_slices(const std::vector<IndexedSlices>&);

}  // namespace holdfast
