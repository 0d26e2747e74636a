// Taking parts of a tensor: NumPy's basic slicing, and rows by their numbers.
#pragma once

#include <array>
#include <span>

#include "holdfast/op/in.h"

namespace holdfast {

class Variable;

/// One item between the brackets of `t[...]`.
struct IndexItem {
  enum Kind : uint8_t { kInt, kSlice, kEllipsis, kNewAxis, kTensor };
  Kind kind = kSlice;
  std::optional<int64_t> start = {}, stop = {}, step = {};  // kInt: the index is `start`
  Tensor tensor = {};                                       // kTensor: a scalar integer index
  std::array<Tensor, 3> bounds = {};  // kSlice: start, stop, step where they are tensors
};
/// t[items...], as NumPy's basic slicing: integers, slices, an ellipsis, new axes, scalar integer
/// tensors.
HOLDFAST_API Tensor index(const In& t, std::span<const IndexItem> items);
inline Tensor index(const In& t, std::initializer_list<IndexItem> items) {
  return index(t, std::span<const IndexItem>(items.begin(), items.size()));
}
/// A copy of `t` in which t[items...] is `value`, which broadcasts.
HOLDFAST_API Tensor index_update(const In& t, std::span<const IndexItem> items, const In& value);
/// v[items...].assign(value): only that part of the variable changes.
HOLDFAST_API void index_assign(const Variable& v, std::span<const IndexItem> items,
                               const In& value);

struct StridedSliceOptions {
  MaybeIn strides = {};
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
};
/// input[begin:end:strides], with bits of the masks for what NumPy writes as `:`, `...`, `None` and
/// integers.
HOLDFAST_API Tensor strided_slice(const In& input, const In& begin, const In& end,
                                  const StridedSliceOptions& = {});
/// The box of `size` elements at `begin`; -1 means up to the end.
HOLDFAST_API Tensor slice(const In& input, const Sizes& begin, const Sizes& size);

struct GatherOptions {
  bool validate_indices = true;  // kept for compatibility: indices are always checked
  Axes axis = {};                // where none is given: batch_dims
  int64_t batch_dims = 0;
};
/// Slices of `params` along `axis`, by number.
HOLDFAST_API Tensor gather(const In& params, const In& indices, const GatherOptions& = {});
struct GatherNdOptions {
  int64_t batch_dims = 0;
  std::string bad_indices_policy = {};  // "IGNORE": zeros for positions that `params` has not
};
/// Slices of `params` at positions: the last axis of `indices` holds coordinates.
HOLDFAST_API Tensor gather_nd(const In& params, const In& indices, const GatherNdOptions& = {});
/// gather along the last axis of `indices`, the axes before it being batches.
HOLDFAST_API Tensor batch_gather(const In& params, const In& indices);

/// Without x and y: the positions of non-zero elements, one a row. With them: x where true, y
/// elsewhere.
HOLDFAST_API Tensor where(const In& condition, const MaybeIn& x = {}, const MaybeIn& y = {});
/// `t` where `condition` is true, `e` elsewhere: all of one shape, or one condition for each row of
/// the first axis, or one for everything. (`where` broadcasts instead.)
HOLDFAST_API Tensor select_rows(const In& condition, const In& t, const In& e);
struct BooleanMaskOptions {
  std::optional<int64_t> axis = {};
};
/// The elements (or slices, where the mask has fewer axes) at which `mask` is true.
HOLDFAST_API Tensor boolean_mask(const In& tensor, const In& mask, const BooleanMaskOptions& = {});

/// Rows of `data` by partition: output i holds those whose entry in `partitions` is i.
HOLDFAST_API Tensors dynamic_partition(const In& data, const In& partitions,
                                       int64_t num_partitions);
/// Joins slices by number: merged[indices[m][i...]] = data[m][i...]; the last of two wins.
HOLDFAST_API Tensor dynamic_stitch(const Ins& indices, const Ins& data);
/// Coordinates of flat positions in a tensor of shape `dims`, one coordinate a row.
HOLDFAST_API Tensor unravel_index(const In& indices, const In& dims);

}  // namespace holdfast
