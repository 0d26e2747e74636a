// The largest or smallest along an axis, where nearly all of them would do.
#pragma once

#include <tuple>

#include "holdfast/op/in.h"

namespace holdfast {

struct ApproxKOptions {
  int64_t reduction_dimension = -1;
  double recall_target = 0.95;  // what is found here is exact, and so meets every target
  int64_t reduction_input_size_override = -1;
  bool aggregate_to_topk = true;
};
/// Values and positions of k elements along an axis of which at least `recall_target` are among the
/// k largest.
HOLDFAST_API std::tuple<Tensor, Tensor> approx_max_k(const In& operand, int64_t k,
                                                     const ApproxKOptions& = {});
/// Likewise of the k smallest.
HOLDFAST_API std::tuple<Tensor, Tensor> approx_min_k(const In& operand, int64_t k,
                                                     const ApproxKOptions& = {});

namespace math {
using holdfast::approx_max_k;
using holdfast::approx_min_k;
}  // namespace math
namespace nn {
using holdfast::approx_max_k;
using holdfast::approx_min_k;
}  // namespace nn
}  // namespace holdfast
