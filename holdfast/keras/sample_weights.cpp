#include "holdfast/keras/sample_weights.h"

#include <tuple>

#include "holdfast/keras/loss.h"
#include "holdfast/op/deferred.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

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

// Ranks alone tell which axes are those of examples: where a trace has none, each call does.
const Composition counted_later(
    "keras_where_counted", 2,
    +[](std::span<const Tensor> in) { return where_counted(in[0], in[1], in[0].dtype()); });
const Composition samples_later(
    "keras_samples", 1, +[](std::span<const Tensor> in, bool mean) {
      Samples s = samples_of(in[0], in.size() > 1 ? in[1] : Tensor(), mean);
      return s.weights.defined() ? Tensors{s.values, s.weights} : Tensors{s.values};
    });

}  // namespace

Tensor for_each_step(Tensor weights, const Tensor& values) {
  if (!ranked(weights) || !ranked(values) || weights.rank() == 0) return weights;
  while (weights.rank() < values.rank()) weights = expand_dims(weights, -1);
  return weights;
}

Tensor where_counted(const Tensor& weights, const Tensor& mask, DType dtype) {
  Tensor counts = cast(mask, dtype);
  if (!weights.defined()) return counts;
  Tensor given = weights.dtype() == dtype ? weights : cast(weights, dtype);
  if (!ranked(given) || !ranked(counts))
    return counted_later({given, counts}, dtype, Shape::unknown());
  auto [c, w] = same_rank(counts, given);
  return for_each_step(w, c) * for_each_step(c, w);
}

Samples samples_of(Tensor values, Tensor weights, bool mean) {
  if (!ranked(values) || (weights.defined() && !ranked(weights))) {
    Tensors in = weights.defined() ? Tensors{values, weights} : Tensors{values};
    Given gives;
    for (const Tensor& t : in) gives.emplace_back(t.dtype(), Shape::unknown());
    Tensors out = samples_later.list(in, gives, mean);
    return {out[0], out.size() > 1 ? out[1] : Tensor()};
  }
  if (!weights.defined()) return {joined(values, 1, mean), {}};
  std::tie(values, weights) = same_rank(values, weights);
  int rank = weights.rank();
  values = joined(values, rank, mean);
  weights = broadcast_to(weights, shape_of(values));
  return {joined(values * weights, 1, mean), joined(weights, 1, mean)};
}

}  // namespace holdfast::keras
