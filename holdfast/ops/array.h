// Shapes, creation, joining and rearranging: ops that move elements and compute nothing.
#pragma once

#include "holdfast/op/by_axes.h"
#include "holdfast/ops/constant.h"
#include "holdfast/tensor/indexed_slices.h"

namespace holdfast {

// -- shapes

/// The same elements in another shape; one dimension may be -1 and is worked out.
HOLDFAST_API Tensor reshape(const In& tensor, const Sizes& shape);
struct SqueezeOptions {
  Axes axis = {};
};
/// Without its axes of size 1, or without those of them that `axis` names.
HOLDFAST_API Tensor squeeze(const In& input, const SqueezeOptions& = {});
HOLDFAST_AXES_OVERLOADS(squeeze, SqueezeOptions, axis)
/// With a new axis of size 1 at `axis`.
HOLDFAST_API Tensor expand_dims(const In& input, const Sizes& axis);
/// The shape as an integer vector.
HOLDFAST_API Tensor shape(const In& input, std::optional<DType> out_type = {});
/// The shapes of several tensors.
HOLDFAST_API Tensors shape_n(const Ins& input, std::optional<DType> out_type = {});
/// The number of elements.
HOLDFAST_API Tensor size(const In& input, std::optional<DType> out_type = {});
/// The number of axes.
HOLDFAST_API Tensor rank(const In& input);
/// The input, known from here on to have `shape`; -1 stands for any size.
HOLDFAST_API Tensor ensure_shape(const In& x, const Shape& shape);
/// The shape that elementwise ops over the two shapes give.
HOLDFAST_API Shape broadcast_static_shape(const Shape& shape_x, const Shape& shape_y);
/// Likewise, of shapes held in integer vectors.
HOLDFAST_API Tensor broadcast_dynamic_shape(const In& shape_x, const In& shape_y);
/// Repeated along axes of size 1 and new leading axes until it has `shape`.
HOLDFAST_API Tensor broadcast_to(const In& input, const Sizes& shape);
/// The shape of `t` as numbers where it is known, else as a tensor: for formulas that must stand
/// both.
HOLDFAST_API Sizes shape_of(const Tensor& t);

// -- creation

/// Zeros (false, empty strings); float32 where no dtype is given.
HOLDFAST_API Tensor zeros(const Sizes& shape, std::optional<DType> dtype = {});
/// Ones; float32 where no dtype is given.
HOLDFAST_API Tensor ones(const Sizes& shape, std::optional<DType> dtype = {});
/// A tensor of zeros with the shape of `input`, and its dtype where no other is given.
HOLDFAST_API Tensor zeros_like(const In& input, std::optional<DType> dtype = {});
/// A tensor of ones with the shape of `input`, and its dtype where no other is given.
HOLDFAST_API Tensor ones_like(const In& input, std::optional<DType> dtype = {});
/// `value` everywhere.
HOLDFAST_API Tensor fill(const Sizes& dims, const In& value);
struct EyeOptions {
  Axes num_columns = {};
  Axes batch_shape = {};
  DType dtype = float32;
};
/// Identity matrices.
HOLDFAST_API Tensor eye(const Sizes& num_rows, const EyeOptions& = {});
/// start, start + delta, ... up to but without `limit`; `range(n)` counts from 0.
HOLDFAST_API Tensor range(const In& start, const MaybeIn& limit = {}, const MaybeIn& delta = {},
                          std::optional<DType> dtype = {});
struct LinspaceOptions {
  int64_t axis = 0;
};
/// `num` values from `start` to `stop`, both included, evenly spaced along a new axis.
HOLDFAST_API Tensor linspace(const In& start, const In& stop, const Sizes& num,
                             const LinspaceOptions& = {});
struct MeshgridOptions {
  std::string indexing = "xy";
};
/// Coordinates of the grid that the vectors span, one tensor for each.
HOLDFAST_API Tensors meshgrid(const Ins& args, const MeshgridOptions& = {});
struct OneHotOptions {
  MaybeIn on_value = {}, off_value = {};
  std::optional<int64_t> axis = {};  // the last where none is given
  std::optional<DType> dtype = {};
};
/// `on_value` where the position along the new axis is the index, `off_value` elsewhere.
HOLDFAST_API Tensor one_hot(const In& indices, const Sizes& depth, const OneHotOptions& = {});
struct SequenceMaskOptions {
  Axes maxlen = {};
  DType dtype = boolean;
};
/// True at the first `lengths[i]` positions of row i.
HOLDFAST_API Tensor sequence_mask(const In& lengths, const SequenceMaskOptions& = {});

// -- identities

/// The same value under a new identity.
HOLDFAST_API Tensor identity(const In& input);
/// The same values under new identities.
HOLDFAST_API Tensors identity_n(const Ins& input);
/// The same value, through which no gradient flows.
HOLDFAST_API Tensor stop_gradient(const In& input);
/// The same value, promised not to change.
HOLDFAST_API Tensor guarantee_const(const In& input);
/// The same bytes under another dtype.
HOLDFAST_API Tensor bitcast(const In& input, DType type);

// -- joining and splitting

/// The values one after another along `axis`.
HOLDFAST_API Tensor concat(const Ins& values, const Sizes& axis);
struct AxisOptions {
  int64_t axis = 0;
};
/// The values side by side along a new axis.
HOLDFAST_API Tensor stack(const Ins& values, const AxisOptions& = {});
HOLDFAST_AXIS_OVERLOAD(stack, Ins, AxisOptions)
/// The values side by side along a new first axis.
HOLDFAST_API Tensor parallel_stack(const Ins& values);
struct UnstackOptions {
  std::optional<int64_t> num = {};
  int64_t axis = 0;
};
/// The slices along `axis`, each without it.
HOLDFAST_API Tensors unstack(const In& value, const UnstackOptions& = {});
struct SplitOptions {
  Sizes axis = 0;
  std::optional<int64_t> num = {};
};
/// Pieces along `axis`: so many equal ones, or of the given sizes (one may be -1).
HOLDFAST_API Tensors split(const In& value, const Sizes& num_or_size_splits,
                           const SplitOptions& = {});
#ifndef HOLDFAST_BUILDING  // our own code registers functions by their address
/// The same with the axis alone: `split(x, 2, 1)`.
template <AxisNumber T>
Tensors split(const In& value, const Sizes& num_or_size_splits, T axis,
              const std::source_location& at = std::source_location::current()) {
  SplitOptions options{.axis = axis};
  mark_site(at);
  return split(value, num_or_size_splits, options);
}
#endif

// -- rearranging

struct TransposeOptions {
  Axes perm = {};
  bool conjugate = false;
};
/// Axes in the order `perm`, reversed where none is given.
HOLDFAST_API Tensor transpose(const In& a, const TransposeOptions& = {});
HOLDFAST_AXES_OVERLOADS(transpose, TransposeOptions, perm)
/// The input repeated `multiples[i]` times along axis i.
HOLDFAST_API Tensor tile(const In& input, const Sizes& multiples);
struct RepeatOptions {
  std::optional<int64_t> axis = {};
};
/// Each element (or slice along `axis`) repeated.
HOLDFAST_API Tensor repeat(const In& input, const Sizes& repeats, const RepeatOptions& = {});
#ifndef HOLDFAST_BUILDING  // our own code registers functions by their address
/// The same with the axis alone: `repeat(x, {1, 2}, 0)`.
template <AxisNumber T>
Tensor repeat(const In& input, const Sizes& repeats, T axis) {
  return repeat(input, repeats, RepeatOptions{.axis = static_cast<int64_t>(axis)});
}
#endif
/// Backwards along the axes.
HOLDFAST_API Tensor reverse(const In& tensor, const Sizes& axis);
struct ReverseSequenceOptions {
  std::optional<int64_t> seq_axis = {},
                         batch_axis =
                             {};  // seq_axis is needed; batch_axis is 0 where none is given
};
/// The first `seq_lengths[i]` slices of batch i backwards, the others as they are.
HOLDFAST_API Tensor reverse_sequence(const In& input, const In& seq_lengths,
                                     const ReverseSequenceOptions& = {});
/// Moved along axes by `shift`; what falls off at one end comes back at the other.
HOLDFAST_API Tensor roll(const In& input, const Sizes& shift, const Sizes& axis);
struct PadOptions {
  std::string mode = "CONSTANT";
  MaybeIn constant_values = {};
};
/// Padded by paddings[i] = {before, after} along axis i, with a constant or by reflection.
HOLDFAST_API Tensor pad(const In& tensor, const In& paddings, const PadOptions& = {});

/// The permutation that undoes `x`.
HOLDFAST_API Tensor invert_permutation(const In& x);

// -- sparse rows

/// Sparse rows as one dense tensor; rows that come twice add up.
HOLDFAST_API Tensor to_dense(const IndexedSlices&);
/// All rows of several in one.
HOLDFAST_API IndexedSlices concat_slices(const std::vector<IndexedSlices>&);

}  // namespace holdfast
