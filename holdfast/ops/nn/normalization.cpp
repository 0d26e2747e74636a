// Moments and batch normalisation written with other functions.
#include "holdfast/ops/normalization.h"

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

// Moments of 16-bit floats are taken in float32.
Tensor wide(const Tensor& t) {
  return t.dtype() == float16 || t.dtype() == bfloat16 ? cast(t, float32) : t;
}
Tensor as(const Tensor& t, DType d) { return t.dtype() == d ? t : cast(t, d); }

Tensor without(const Tensor& t, const Sizes& axes, bool keepdims) {
  return keepdims ? t : squeeze(t, {.axis = axes});
}

}  // namespace

REGISTER(FUNCTION(&nn::moments)
             .args("x, axes")
             .options<&nn::MomentsOptions::shift, &nn::MomentsOptions::keepdims>("shift, keepdims")
             .python("nn.moments")
             .doc("Mean and variance over axes. `shift` has no effect, as in TensorFlow.")
             .samples("uniform(3, 4), [0]", "uniform(2, 3, 4), [0, 2], keepdims=True")
             .reference("(np.mean(x, axis=tuple(axes), keepdims=keepdims), np.var(x, "
                        "axis=tuple(axes), keepdims=keepdims))"));
std::tuple<Tensor, Tensor> nn::moments(const In& input, const Sizes& axes,
                                       const MomentsOptions& o) {
  Tensor x = input, y = wide(x);
  Tensor mean = reduce_mean(y, {.axis = axes, .keepdims = true});
  Tensor variance = reduce_mean(squared_difference(y, mean), {.axis = axes, .keepdims = true});
  return {as(without(mean, axes, o.keepdims), x.dtype()),
          as(without(variance, axes, o.keepdims), x.dtype())};
}

REGISTER(
    FUNCTION(&nn::weighted_moments)
        .args("x, axes, frequency_weights: W")
        .options<&nn::WeightedMomentsOptions::keepdims>("keepdims")
        .python("nn.weighted_moments")
        .doc("Mean and variance over axes, each element counted with its weight.")
        .samples("uniform(3, 4), [0], positive(3, 4)",
                 "uniform(3, 4), [1], positive(4), keepdims=True")
        .reference(
            "(lambda w, a: (lambda n: (lambda m: (m if keepdims else m.squeeze(a), (lambda v: v if "
            "keepdims else v.squeeze(a))(np.sum(w * np.abs(x - m) ** 2, axis=a, keepdims=True) / "
            "n)))(np.sum(w * x, axis=a, keepdims=True) / n))(np.where(np.sum(w, axis=a, "
            "keepdims=True) == 0, 1, np.sum(w, axis=a, keepdims=True))))"
            "(np.broadcast_to(frequency_weights, x.shape), tuple(axes))"));
std::tuple<Tensor, Tensor> nn::weighted_moments(const In& input, const Sizes& axes,
                                                const In& frequency_weights,
                                                const WeightedMomentsOptions& o) {
  Tensor x = input, y = wide(x), w = as(frequency_weights.tensor(y.dtype()), y.dtype());
  auto sum = [&](const Tensor& t) { return reduce_sum(t, {.axis = axes, .keepdims = true}); };
  // Where all weights are zero, both are.
  Tensor total = sum(w + zeros_like(y)), mean = divide_no_nan(sum(w * y), total);
  Tensor variance = divide_no_nan(sum(w * squared_difference(y, mean)), total);
  return {as(without(mean, axes, o.keepdims), x.dtype()),
          as(without(variance, axes, o.keepdims), x.dtype())};
}

REGISTER(FUNCTION(&nn::sufficient_statistics)
             .args("x, axes")
             .options<&nn::SufficientStatisticsOptions::shift,
                      &nn::SufficientStatisticsOptions::keepdims>("shift, keepdims")
             .python("nn.sufficient_statistics")
             .doc("Count, sum and sum of squares over axes, of `x - shift` where a shift is given; "
                  "and the shift."));
std::tuple<Tensor, Tensor, Tensor, Tensor> nn::sufficient_statistics(
    const In& input, const Sizes& axes, const SufficientStatisticsOptions& o) {
  Tensor x = input, shift = o.shift ? o.shift->tensor(x.dtype()) : Tensor();
  Tensor total;
  ReduceOptions over{.axis = axes, .keepdims = o.keepdims};
  if (x.shape().is_full() && !(axes.is_tensor() && axes.tensor().is_symbolic())) {
    int64_t n = 1;
    for (int64_t a : axes.ints()) {
      int64_t at = a < 0 ? a + x.rank() : a;
      if (at < 0 || at >= x.rank())
        outside("sufficient_statistics: `axes` holds", a, -x.rank(), x.rank()).check();
      n *= x.dim(static_cast<int>(at));
    }
    total = Tensor::scalar(static_cast<double>(n), x.dtype());
    if (is_integer(x.dtype())) total = Tensor::scalar(n, x.dtype());
    if (x.is_symbolic()) {
      went_by_sizes(x);
      total = identity(total);  // a tensor of the graph, which can be fed
    }
  } else {
    total = cast(reduce_prod(gather(shape(x), axes.tensor())), x.dtype());
  }
  Tensor away = shift.defined() ? x - shift : x;
  return {total, reduce_sum(away, over),
          reduce_sum(shift.defined() ? squared_difference(x, shift) : square(x), over), shift};
}

REGISTER(FUNCTION(&nn::normalize_moments)
             .args("counts, mean_ss, variance_ss, shift")
             .python("nn.normalize_moments")
             .doc("Mean and variance from sufficient statistics.")
             .samples("4.0, uniform(3), uniform(3, low=4, high=8), None")
             .reference("(mean_ss / counts, variance_ss / counts - (mean_ss / counts) ** 2)"));
std::tuple<Tensor, Tensor> nn::normalize_moments(const In& counts, const In& mean_ss,
                                                 const In& variance_ss, const MaybeIn& shift) {
  Tensor sum = mean_ss, squares = variance_ss.tensor(sum.dtype());
  Tensor one_over = reciprocal(counts.tensor(sum.dtype()));
  Tensor shifted = sum * one_over;
  return {shift ? shifted + shift->tensor(sum.dtype()) : shifted,
          squares * one_over - square(shifted)};
}

REGISTER(FUNCTION(&nn::batch_normalization)
             .args("x, mean, variance, offset, scale, variance_epsilon")
             .python("nn.batch_normalization")
             .doc("(x - mean) / sqrt(variance + variance_epsilon) * scale + offset; offset and "
                  "scale may be None.")
             .samples("uniform(3, 4), uniform(4), positive(4), uniform(4), uniform(4), 0.001",
                      "uniform(3, 4), uniform(4), positive(4), None, None, 0.001")
             .reference("(x - mean) / np.sqrt(variance + variance_epsilon) * (1 if scale is None "
                        "else scale) + (0 if offset is None else offset)"));
Tensor nn::batch_normalization(const In& x, const In& mean, const In& variance,
                               const MaybeIn& offset, const MaybeIn& scale,
                               double variance_epsilon) {
  Tensor t = x, m = mean.tensor(t.dtype());
  Tensor factor = rsqrt(variance.tensor(t.dtype()) + variance_epsilon);
  if (scale) factor = factor * scale->tensor(t.dtype());
  Tensor shift = offset ? offset->tensor(t.dtype()) - m * factor : -(m * factor);
  // The parameters may be wider than 16-bit inputs.
  return t * as(factor, t.dtype()) + as(shift, t.dtype());
}

}  // namespace holdfast
