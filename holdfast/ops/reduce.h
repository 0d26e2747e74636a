// Over axes and over segments: sums, extremes, running sums, counts.
#pragma once

#include "holdfast/op/by_axes.h"

namespace holdfast {

// -- over axes

struct ReduceOptions {
  Axes axis = {};
  bool keepdims = false;
};
/// Sum over axes.
HOLDFAST_API Tensor reduce_sum(const In& input_tensor, const ReduceOptions& = {});
HOLDFAST_FOLD_OVERLOADS(reduce_sum, ReduceOptions)
/// Mean over axes; integers are rounded towards zero.
HOLDFAST_API Tensor reduce_mean(const In& input_tensor, const ReduceOptions& = {});
HOLDFAST_FOLD_OVERLOADS(reduce_mean, ReduceOptions)
/// Product over axes.
HOLDFAST_API Tensor reduce_prod(const In& input_tensor, const ReduceOptions& = {});
HOLDFAST_FOLD_OVERLOADS(reduce_prod, ReduceOptions)
/// Largest element over axes; NaN where there is one.
HOLDFAST_API Tensor reduce_max(const In& input_tensor, const ReduceOptions& = {});
HOLDFAST_FOLD_OVERLOADS(reduce_max, ReduceOptions)
/// Smallest element over axes; NaN where there is one.
HOLDFAST_API Tensor reduce_min(const In& input_tensor, const ReduceOptions& = {});
HOLDFAST_FOLD_OVERLOADS(reduce_min, ReduceOptions)
/// Whether all are true over axes.
HOLDFAST_API Tensor reduce_all(const In& input_tensor, const ReduceOptions& = {});
HOLDFAST_FOLD_OVERLOADS(reduce_all, ReduceOptions)
/// Whether any is true over axes.
HOLDFAST_API Tensor reduce_any(const In& input_tensor, const ReduceOptions& = {});
HOLDFAST_FOLD_OVERLOADS(reduce_any, ReduceOptions)
/// log(sum(exp(x))) over axes, without overflow.
HOLDFAST_API Tensor reduce_logsumexp(const In& input_tensor, const ReduceOptions& = {});
HOLDFAST_FOLD_OVERLOADS(reduce_logsumexp, ReduceOptions)
/// Mean squared distance from the mean over axes; real also for complex numbers.
HOLDFAST_API Tensor reduce_variance(const In& input_tensor, const ReduceOptions& = {});
HOLDFAST_FOLD_OVERLOADS(reduce_variance, ReduceOptions)
/// Square root of the variance over axes.
HOLDFAST_API Tensor reduce_std(const In& input_tensor, const ReduceOptions& = {});
HOLDFAST_FOLD_OVERLOADS(reduce_std, ReduceOptions)
/// Square root of the sum of squared magnitudes over axes.
HOLDFAST_API Tensor reduce_euclidean_norm(const In& input_tensor, const ReduceOptions& = {});
HOLDFAST_FOLD_OVERLOADS(reduce_euclidean_norm, ReduceOptions)
struct CountNonzeroOptions {
  Axes axis = {};
  bool keepdims = false;
  DType dtype = int64;
};
/// How many elements differ from zero (from the empty string) over axes.
HOLDFAST_API Tensor count_nonzero(const In& input, const CountNonzeroOptions& = {});
HOLDFAST_FOLD_OVERLOADS(count_nonzero, CountNonzeroOptions)
/// Share of elements that are zero, as a float32 scalar.
HOLDFAST_API Tensor zero_fraction(const In& value);

// -- where the extremes are

struct ArgOptions {
  Axes axis = {};  // one; none: 0
  DType output_type = int64;
};
/// Position of the largest element along an axis, the first of equals.
HOLDFAST_API Tensor argmax(const In& input, const ArgOptions& = {});
HOLDFAST_AXIS_OVERLOAD(argmax, In, ArgOptions)
/// Position of the smallest element along an axis, the first of equals.
HOLDFAST_API Tensor argmin(const In& input, const ArgOptions& = {});
HOLDFAST_AXIS_OVERLOAD(argmin, In, ArgOptions)

// -- running along an axis

struct CumulativeOptions {
  int64_t axis = 0;
  bool exclusive = false, reverse = false;
};
/// Running sum along an axis.
HOLDFAST_API Tensor cumsum(const In& x, const CumulativeOptions& = {});
HOLDFAST_AXIS_OVERLOAD(cumsum, In, CumulativeOptions)
/// Running product along an axis.
HOLDFAST_API Tensor cumprod(const In& x, const CumulativeOptions& = {});
HOLDFAST_AXIS_OVERLOAD(cumprod, In, CumulativeOptions)
/// Running log(sum(exp(x))) along an axis, without overflow.
HOLDFAST_API Tensor cumulative_logsumexp(const In& x, const CumulativeOptions& = {});
HOLDFAST_AXIS_OVERLOAD(cumulative_logsumexp, In, CumulativeOptions)

// -- over segments: rows of `data` that share an id

/// Sum of each segment; ids never decrease, segments that do not occur are 0.
HOLDFAST_API Tensor segment_sum(const In& data, const In& segment_ids);
/// Mean of each segment; ids never decrease, segments that do not occur are 0.
HOLDFAST_API Tensor segment_mean(const In& data, const In& segment_ids);
/// Product of each segment; ids never decrease, segments that do not occur are 1.
HOLDFAST_API Tensor segment_prod(const In& data, const In& segment_ids);
/// Largest of each segment; ids never decrease, segments that do not occur are 0.
HOLDFAST_API Tensor segment_max(const In& data, const In& segment_ids);
/// Smallest of each segment; ids never decrease, segments that do not occur are 0.
HOLDFAST_API Tensor segment_min(const In& data, const In& segment_ids);

/// Row `i` of the result is the sum of the rows of `data` whose segment id is `i`.
HOLDFAST_API Tensor unsorted_segment_sum(const In& data, const In& segment_ids,
                                         const Sizes& num_segments);
/// Likewise the product; 1 for segments that do not occur.
HOLDFAST_API Tensor unsorted_segment_prod(const In& data, const In& segment_ids,
                                          const Sizes& num_segments);
/// Likewise the largest; the dtype's lowest for segments that do not occur.
HOLDFAST_API Tensor unsorted_segment_max(const In& data, const In& segment_ids,
                                         const Sizes& num_segments);
/// Likewise the smallest; the dtype's highest for segments that do not occur.
HOLDFAST_API Tensor unsorted_segment_min(const In& data, const In& segment_ids,
                                         const Sizes& num_segments);
/// Likewise the mean; 0 for segments that do not occur.
HOLDFAST_API Tensor unsorted_segment_mean(const In& data, const In& segment_ids,
                                          const Sizes& num_segments);
/// Likewise the sum over the square root of the segment's size.
HOLDFAST_API Tensor unsorted_segment_sqrt_n(const In& data, const In& segment_ids,
                                            const Sizes& num_segments);

// -- over segments of rows that `indices` name

struct SparseSegmentOptions {
  Axes num_segments = {};        // where none is given: as many as the ids say
  bool sparse_gradient = false;  // that of `data` has only the rows that `indices` names
};
/// Sum of each segment of the rows data[indices]; ids never decrease.
HOLDFAST_API Tensor sparse_segment_sum(const In& data, const In& indices, const In& segment_ids,
                                       const SparseSegmentOptions& = {});
/// Likewise the mean; 0 for segments that do not occur.
HOLDFAST_API Tensor sparse_segment_mean(const In& data, const In& indices, const In& segment_ids,
                                        const SparseSegmentOptions& = {});
/// Likewise the sum over the square root of the segment's size.
HOLDFAST_API Tensor sparse_segment_sqrt_n(const In& data, const In& indices, const In& segment_ids,
                                          const SparseSegmentOptions& = {});

// -- counts

struct BincountOptions {
  MaybeIn weights = {};
  Axes minlength = {}, maxlength = {};
  DType dtype = int32;
  std::optional<int64_t> axis = {};
  bool binary_output = false;
};
/// How often each of 0, 1, 2 ... occurs, or the sum of the weights there.
HOLDFAST_API Tensor bincount(const In& arr, const BincountOptions& = {});
struct HistogramOptions {
  int64_t nbins = 100;
  DType dtype = int32;
};
/// How many values fall into each of `nbins` equal bins of `value_range`; the outer bins are open.
HOLDFAST_API Tensor histogram_fixed_width(const In& values, const In& value_range,
                                          const HistogramOptions& = {});
/// Which of the bins each value falls into.
HOLDFAST_API Tensor histogram_fixed_width_bins(const In& values, const In& value_range,
                                               const HistogramOptions& = {});
struct ConfusionOptions {
  Axes num_classes = {};
  MaybeIn weights = {};
  DType dtype = int32;
};
/// How often label i was predicted as j, in row i and column j.
HOLDFAST_API Tensor confusion_matrix(const In& labels, const In& predictions,
                                     const ConfusionOptions& = {});

// -- norms

/// Square root of the sum of squares of all tensors together.
HOLDFAST_API Tensor global_norm(const Ins& t_list);
/// `t` scaled down so that its norm over `axes` is at most `clip_norm`.
HOLDFAST_API Tensor clip_by_norm(const In& t, const In& clip_norm, const Axes& axes = {});
/// `t` scaled down so that its norm over its number of elements is at most `clip_norm`.
HOLDFAST_API Tensor clip_by_average_norm(const In& t, const In& clip_norm);
struct ClipByGlobalNormOptions {
  MaybeIn use_norm = {};
};
/// All tensors scaled by one factor so that their global norm is at most `clip_norm`; the norm
/// comes last.
HOLDFAST_API Tensors clip_by_global_norm(const Ins& t_list, const In& clip_norm,
                                         const ClipByGlobalNormOptions& = {});
struct L2NormalizeOptions {
  Axes axis = {};
  double epsilon = 1e-12;
};
/// `x` over the square root of max(sum of squares over `axis`, epsilon).
HOLDFAST_API Tensor l2_normalize(const In& x, const L2NormalizeOptions& = {});
HOLDFAST_AXES_OVERLOADS(l2_normalize, L2NormalizeOptions, axis)

}  // namespace holdfast
