// Sums over axes and over segments.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast {

struct ReduceOptions {
  Axes axis = {};
  bool keepdims = false;
};
/// Sum over axes.
HOLDFAST_API Tensor reduce_sum(const In& input_tensor, const ReduceOptions& = {});

/// Row `i` of the result is the sum of the rows of `data` whose segment id is `i`.
HOLDFAST_API Tensor unsorted_segment_sum(const In& data, const In& segment_ids, const Sizes& num_segments);

}  // namespace holdfast
