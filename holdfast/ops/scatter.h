// Putting values at positions: into zeros, into a copy, into a variable.
#pragma once

#include "holdfast/op/in.h"
#include "holdfast/op/variable.h"
#include "holdfast/tensor/indexed_slices.h"

namespace holdfast {

struct ScatterNdOptions {
  std::string bad_indices_policy = {};  // "IGNORE": updates for positions that are not there go
};
/// Zeros of `shape` with updates added at the positions in `indices`.
HOLDFAST_API Tensor scatter_nd(const In& indices, const In& updates, const Sizes& shape,
                               const ScatterNdOptions& = {});
/// A copy of `tensor` with updates at the positions; of two for one position the last wins.
HOLDFAST_API Tensor tensor_scatter_nd_update(const In& tensor, const In& indices, const In& updates,
                                             const ScatterNdOptions& = {});
/// A copy of `tensor` with updates added at the positions.
HOLDFAST_API Tensor tensor_scatter_nd_add(const In& tensor, const In& indices, const In& updates,
                                          const ScatterNdOptions& = {});
/// A copy of `tensor` with updates subtracted at the positions.
HOLDFAST_API Tensor tensor_scatter_nd_sub(const In& tensor, const In& indices, const In& updates,
                                          const ScatterNdOptions& = {});
/// A copy of `tensor` with the smaller of value and update at the positions.
HOLDFAST_API Tensor tensor_scatter_nd_min(const In& tensor, const In& indices, const In& updates,
                                          const ScatterNdOptions& = {});
/// A copy of `tensor` with the larger of value and update at the positions.
HOLDFAST_API Tensor tensor_scatter_nd_max(const In& tensor, const In& indices, const In& updates,
                                          const ScatterNdOptions& = {});

/// Rows of a variable, changed in place: v[indices[i]] becomes, gains, loses ... values[i].
HOLDFAST_API const Variable& scatter_update(const Variable& v, const IndexedSlices& slices);
HOLDFAST_API const Variable& scatter_add(const Variable& v, const IndexedSlices& slices);
HOLDFAST_API const Variable& scatter_sub(const Variable& v, const IndexedSlices& slices);
HOLDFAST_API const Variable& scatter_mul(const Variable& v, const IndexedSlices& slices);
HOLDFAST_API const Variable& scatter_div(const Variable& v, const IndexedSlices& slices);
HOLDFAST_API const Variable& scatter_min(const Variable& v, const IndexedSlices& slices);
HOLDFAST_API const Variable& scatter_max(const Variable& v, const IndexedSlices& slices);
/// Elements or slices of a variable at positions, changed in place.
HOLDFAST_API const Variable& scatter_nd_update(const Variable& v, const In& indices,
                                               const In& updates);
HOLDFAST_API const Variable& scatter_nd_add(const Variable& v, const In& indices,
                                            const In& updates);
HOLDFAST_API const Variable& scatter_nd_sub(const Variable& v, const In& indices,
                                            const In& updates);
HOLDFAST_API const Variable& scatter_nd_min(const Variable& v, const In& indices,
                                            const In& updates);
HOLDFAST_API const Variable& scatter_nd_max(const Variable& v, const In& indices,
                                            const In& updates);
/// v[b..., indices[b..., i]] becomes values[b..., i]: rows along an axis that follows the batches.
HOLDFAST_API const Variable& batch_scatter_update(const Variable& v, const IndexedSlices& slices);

}  // namespace holdfast
