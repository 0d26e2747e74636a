#include "holdfast/ops/reduce.h"

#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/fold.h"
#include "holdfast/ops/math/fold_gradient.h"

namespace holdfast {
namespace {

template <Fold F>
Status run_fold(Call& c) {
  // Nothing is folded: also a zero keeps its sign.
  if (F == Fold::kSum && c.ints(1).empty()) {
    c.set_out(0, view_of(c.in(), c.in().shape()));
    return {};
  }
  fold(F, c.in(), fold_axes(c), c.out());
  return {};
}

Tensor call(const Op& op, const In& x, const ReduceOptions& o) {
  Tensor t = x;
  Tensor y = op({t, axes_input(t, o.axis)}, {o.keepdims});
  // Over all axes, however many there are, one number is left.
  return o.axis || o.keepdims || t.shape().has_rank() ? y : reshape(y, Sizes(Dims{}));
}

// dy / count, spread over what was averaged.
Tensors mean_gradient(Grad& g) {
  const Tensor &x = g.x(), &y = g.y();
  Tensor spread = spread_over(g.dy(), g);
  if (x.shape().is_full() && y.shape().is_full())
    return {
        spread / Tensor::scalar(static_cast<double>(y.size() ? x.size() / y.size() : 1), x.dtype()),
        Tensor()};
  Tensor n = floordiv(size(x), maximum(size(y), 1));
  return {spread / cast(n, x.dtype()), Tensor()};
}

// Elements that equal the extreme share its gradient.
Tensors extreme_gradient(Grad& g) {
  Tensor hits = cast(equal(g.x(), unfold(g.y(), g)), g.x().dtype());
  Tensor share = hits / reduce_sum(hits, {.axis = Sizes(g.x(1)), .keepdims = true});
  return {share * unfold(g.dy(), g), Tensor()};
}

// The product of all others: running products from the left and from the right, so that zeros are
// no special case.
Tensors prod_gradient(Grad& g) {
  const Tensor& x = g.x();
  RowsOf rows(x, g.ints(1));
  Tensor flat = rows.to_rows(x);
  Tensor others = cumprod(flat, {.axis = 1, .exclusive = true}) *
                  cumprod(flat, {.axis = 1, .exclusive = true, .reverse = true});
  Tensor factor = rows.from_rows(others);
  if (is_complex(x.dtype())) factor = conj(factor);
  return {factor * unfold(g.dy(), g), Tensor()};
}

}  // namespace

#define HOLDFAST_REDUCTION(Name, fn)                                             \
  OP(Name, &fn)                                                                  \
      .args("input_tensor")                                                      \
      .options<&ReduceOptions::axis, &ReduceOptions::keepdims>("axis, keepdims") \
      .inputs("input, axis: Tidx!")                                              \
      .attr("keep_dims", false)                                                  \
      .attrs<&FoldAttrs::keep_dims>()                                            \
      .infer(infer_fold)
#define HOLDFAST_REDUCTION_SAMPLES                                                    \
  samples("uniform(3, 4)", "uniform(3, 4), axis=1", "uniform(3, 4), axis=-2",         \
          "uniform(2, 3, 4), axis=1", "uniform(2, 3, 4), axis=[0, 2], keepdims=True", \
          "uniform(5), axis=[]")

static const Op sum_op =
    HOLDFAST_REDUCTION(Sum, reduce_sum)
        .python("reduce_sum, math.reduce_sum")
        .dtypes(kNumbers)
        .doc("Sum over axes; over all of them where none is given.")
        .folds(Fold::kSum)
        .kernel("fold", run_fold<Fold::kSum>)
        .aliases(+[](const Types& t, int) { return t.shape() == t.out_shape() ? 0 : kFresh; })
        .gradient(+[](Grad& g) -> Tensors { return {spread_over(g.dy(), g), Tensor()}; })
        .keeps("axis")
        .HOLDFAST_REDUCTION_SAMPLES.reference("np.sum(input_tensor, axis=axis, keepdims=keepdims)");
Tensor reduce_sum(const In& x, const ReduceOptions& o) { return call(sum_op, x, o); }

static const Op mean_op = HOLDFAST_REDUCTION(Mean, reduce_mean)
                              .python("reduce_mean, math.reduce_mean")
                              .dtypes(kNumbers)
                              .doc(
                                  "Mean over axes; over all of them where none is given. Integers "
                                  "are rounded towards zero.")
                              .folds(Fold::kMean)
                              .kernel("fold", run_fold<Fold::kMean>)
                              .gradient(mean_gradient)
                              .keeps("axis")
                              .HOLDFAST_REDUCTION_SAMPLES.reference(
                                  "np.mean(input_tensor, axis=axis, keepdims=keepdims) if "
                                  "input_tensor.dtype.kind in 'fc' else "
                                  "np.trunc(np.mean(input_tensor, axis=axis, keepdims=keepdims))");
Tensor reduce_mean(const In& x, const ReduceOptions& o) { return call(mean_op, x, o); }

static const Op prod_op = HOLDFAST_REDUCTION(Prod, reduce_prod)
                              .python("reduce_prod, math.reduce_prod")
                              .dtypes(kNumbers)
                              .doc("Product over axes; over all of them where none is given.")
                              .folds(Fold::kProd)
                              .kernel("fold", run_fold<Fold::kProd>)
                              .gradient(prod_gradient)
                              .keeps("input, axis")
                              .HOLDFAST_REDUCTION_SAMPLES.reference(
                                  "np.prod(input_tensor, axis=axis, keepdims=keepdims)");
Tensor reduce_prod(const In& x, const ReduceOptions& o) { return call(prod_op, x, o); }

static const Op max_op =
    HOLDFAST_REDUCTION(Max, reduce_max)
        .python("reduce_max, math.reduce_max")
        .dtypes(kReals)
        .doc(
            "Largest element over axes; over all of them where none is given. NaN where there is "
            "one.")
        .folds(Fold::kMax)
        .kernel("fold", run_fold<Fold::kMax>)
        .gradient(extreme_gradient)
        .keeps("input, axis, output")
        .HOLDFAST_REDUCTION_SAMPLES.reference("np.max(input_tensor, axis=axis, keepdims=keepdims)");
Tensor reduce_max(const In& x, const ReduceOptions& o) { return call(max_op, x, o); }

static const Op min_op =
    HOLDFAST_REDUCTION(Min, reduce_min)
        .python("reduce_min, math.reduce_min")
        .dtypes(kReals)
        .doc(
            "Smallest element over axes; over all of them where none is given. NaN where there is "
            "one.")
        .folds(Fold::kMin)
        .kernel("fold", run_fold<Fold::kMin>)
        .gradient(extreme_gradient)
        .keeps("input, axis, output")
        .HOLDFAST_REDUCTION_SAMPLES.reference("np.min(input_tensor, axis=axis, keepdims=keepdims)");
Tensor reduce_min(const In& x, const ReduceOptions& o) { return call(min_op, x, o); }

static const Op norm_op =
    HOLDFAST_REDUCTION(EuclideanNorm, reduce_euclidean_norm)
        .python("math.reduce_euclidean_norm")
        .dtypes(kNumbers)
        .doc(
            "Square root of the sum of squared magnitudes over axes; over all of them where none "
            "is given.")
        .kernel("fold", run_fold<Fold::kSquares>)
        .gradient(+[](Grad& g) -> Tensors {
          // A norm is real, in whatever dtype it stands.
          Tensor dy = g.dy();
          if (is_complex(dy.dtype())) dy = complex(real(dy), zeros_like(real(dy)));
          return {g.x() * unfold(dy / g.y(), g), Tensor()};
        })
        .keeps("input, axis, output")
        .HOLDFAST_REDUCTION_SAMPLES.reference(
            "np.sqrt(np.sum(np.abs(input_tensor) ** 2, axis=axis, "
            "keepdims=keepdims)).astype(input_tensor.dtype)");
Tensor reduce_euclidean_norm(const In& x, const ReduceOptions& o) { return call(norm_op, x, o); }

static const Op all_op =
    HOLDFAST_REDUCTION(All, reduce_all)
        .python("reduce_all, math.reduce_all")
        .dtypes(kBools)
        .no_gradient()
        .doc("Whether all elements are true over axes; over all axes where none is given.")
        .folds(Fold::kMin)
        .kernel("fold", run_fold<Fold::kMin>)
        .samples("bools(3, 4)", "bools(3, 4), axis=1", "bools(2, 3, 4), axis=[0, 2], keepdims=True")
        .reference("np.all(input_tensor, axis=axis, keepdims=keepdims)");
Tensor reduce_all(const In& x, const ReduceOptions& o) { return call(all_op, x, o); }

static const Op any_op =
    HOLDFAST_REDUCTION(Any, reduce_any)
        .python("reduce_any, math.reduce_any")
        .dtypes(kBools)
        .no_gradient()
        .doc("Whether any element is true over axes; over all axes where none is given.")
        .folds(Fold::kMax)
        .kernel("fold", run_fold<Fold::kMax>)
        .samples("bools(3, 4)", "bools(3, 4), axis=1", "bools(2, 3, 4), axis=[0, 2], keepdims=True")
        .reference("np.any(input_tensor, axis=axis, keepdims=keepdims)");
Tensor reduce_any(const In& x, const ReduceOptions& o) { return call(any_op, x, o); }

}  // namespace holdfast
