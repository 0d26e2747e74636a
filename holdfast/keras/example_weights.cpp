#include "holdfast/keras/example_weights.h"

#include <tuple>

#include "holdfast/keras/loss.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::keras {
namespace {

bool ranked(const Tensor& t) { return t.shape().has_rank(); }

// Over all axes from `first` on.
Tensor joined(const Tensor& t, int first, bool mean) {
  if (t.rank() <= first) return t;
  Dims axes;
  for (int i = first; i < t.rank(); ++i) axes.push_back(i);
  return mean ? reduce_mean(t, {.axis = Sizes(axes)}) : reduce_sum(t, {.axis = Sizes(axes)});
}

}  // namespace

Tensor for_each_step(Tensor weights, const Tensor& values) {
  if (!ranked(weights) || !ranked(values) || weights.rank() == 0) return weights;
  while (weights.rank() < values.rank()) weights = expand_dims(weights, -1);
  return weights;
}

Tensor where_counted(const Tensor& weights, const Tensor& mask, DType dtype) {
  Tensor counts = cast(mask, dtype);
  if (!weights.defined()) return counts;
  auto [c, w] = same_rank(counts, weights.dtype() == dtype ? weights : cast(weights, dtype));
  return for_each_step(w, c) * for_each_step(c, w);
}

Samples samples_of(Tensor values, Tensor weights, bool mean) {
  if (!weights.defined()) {
    if (ranked(values)) return {joined(values, 1, mean), {}};
    Tensor sizes = shape(values);  // one example, or a batch of them
    Tensor count = reduce_prod(slice(sizes, {0}, Sizes(minimum(shape(sizes), 1))));
    Tensor rows = concat({reshape(count, {1}), Tensor::of<int32_t>({-1})}, 0);
    return {joined(reshape(values, Sizes(rows)), 1, mean), {}};
  }
  if (!ranked(values) || !ranked(weights)) {
    Tensor spread = weights * ones_like(values);
    return {values * weights, spread};
  }
  std::tie(values, weights) = same_rank(values, weights);
  int rank = weights.rank();
  values = joined(values, rank, mean);
  weights = broadcast_to(weights, shape_of(values));
  return {joined(values * weights, 1, mean), joined(weights, 1, mean)};
}

}  // namespace holdfast::keras
