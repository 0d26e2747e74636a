// Reductions that are written with other reductions.
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {

#define HOLDFAST_REDUCTION(fn) \
  FUNCTION(&fn)                \
      .args("input_tensor")    \
      .options<&ReduceOptions::axis, &ReduceOptions::keepdims>("axis, keepdims")

REGISTER(
    HOLDFAST_REDUCTION(reduce_logsumexp)
        .python("reduce_logsumexp, math.reduce_logsumexp")
        .doc("log(sum(exp(x))) over axes, without overflow; over all axes where none is given.")
        .samples("uniform(3, 4)", "uniform(3, 4), axis=1",
                 "uniform(2, 3, 4), axis=[0, 2], keepdims=True")
        .reference("scipy.special.logsumexp(input_tensor, axis=axis, keepdims=keepdims)"));
Tensor reduce_logsumexp(const In& input, const ReduceOptions& o) {
  Tensor x = input;
  Tensor most = reduce_max(x, {.axis = o.axis, .keepdims = true});
  // An infinite maximum would turn x - most into NaN.
  most = stop_gradient(where(is_finite(most), most, zeros_like(most)));
  Tensor sum = log(reduce_sum(exp(x - most), o));
  return sum + (o.keepdims ? most : reshape(most, shape_of(sum)));
}

REGISTER(HOLDFAST_REDUCTION(reduce_variance)
             .python("math.reduce_variance")
             .doc("Mean squared distance from the mean over axes; over all axes where none is "
                  "given. Real for complex numbers too.")
             .samples("uniform(3, 4)", "uniform(3, 4), axis=1",
                      "uniform(2, 3, 4), axis=[0, 2], keepdims=True")
             .reference("np.var(input_tensor, axis=axis, keepdims=keepdims)"));
Tensor reduce_variance(const In& input, const ReduceOptions& o) {
  Tensor x = input;
  if (!is_differentiable(x.dtype())) {
    fail(Code::E1101,
         cat("reduce_variance: `input_tensor` is ", name(x.dtype()),
             ", expected a floating or complex dtype"),
         "the variance of integers is no integer", {manual_fix("cast it to a float first")});
  }
  Tensor away = x - reduce_mean(x, {.axis = o.axis, .keepdims = true});
  Tensor squared = is_complex(x.dtype()) ? real(away * conj(away)) : square(away);
  return reduce_mean(squared, o);
}

REGISTER(HOLDFAST_REDUCTION(reduce_std)
             .python("math.reduce_std")
             .doc("Square root of the variance over axes; over all axes where none is given.")
             .samples("uniform(3, 4)", "uniform(3, 4), axis=1",
                      "uniform(2, 3, 4), axis=[0, 2], keepdims=True")
             .reference("np.std(input_tensor, axis=axis, keepdims=keepdims)"));
Tensor reduce_std(const In& input, const ReduceOptions& o) {
  return sqrt(reduce_variance(input, o));
}

REGISTER(FUNCTION(&count_nonzero)
             .args("input")
             .options<&CountNonzeroOptions::axis, &CountNonzeroOptions::keepdims,
                      &CountNonzeroOptions::dtype>("axis, keepdims, dtype")
             .python("math.count_nonzero")
             .doc("How many elements differ from zero (from the empty string) over axes.")
             .samples("ints(3, 4, low=0, high=2)", "ints(3, 4, low=0, high=2), axis=1",
                      "bools(3, 4), axis=0, keepdims=True")
             .reference("np.count_nonzero(input, axis=axis, keepdims=keepdims)"));
Tensor count_nonzero(const In& input, const CountNonzeroOptions& o) {
  Tensor x = input;
  Tensor differs = is_bool(x.dtype())
                       ? x
                       : not_equal(x, x.dtype() == DType::kString ? zeros_like(x)
                                                                  : Tensor::scalar(0, x.dtype()));
  Tensor count = reduce_sum(cast(differs, int64), {.axis = o.axis, .keepdims = o.keepdims});
  return o.dtype == int64 ? count : cast(count, o.dtype);
}

REGISTER(
    FUNCTION(&zero_fraction)
        .args("value")
        .python("math.zero_fraction, nn.zero_fraction")
        .doc("Share of elements that are zero, as a float32 scalar; NaN where there is no element.")
        .samples("ints(3, 4, low=0, high=2)", "uniform(5)")
        .reference("np.float32(np.mean(value == 0))")
        .checks({.gradient = false, .second_gradient = false}));
Tensor zero_fraction(const In& value) {
  Tensor x = value;
  Tensor total = cast(size(x, int64), float32), nonzero = cast(count_nonzero(x), float32);
  return (total - nonzero) / total;
}

}  // namespace holdfast
