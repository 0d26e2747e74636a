// The gamma function and its relatives.
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

constexpr DTypes kWideFloats{float32, float64};

// x^(a - 1) e^-x / gamma(a): how the incomplete gamma function grows with x.
Tensor gamma_density(const Tensor& a, const Tensor& x) {
  return exp(xlogy(a - 1, x) - x - lgamma(a));
}

}  // namespace

static const Op lgamma_op =
    OP(Lgamma, &lgamma)
        .args("x")
        .python("math.lgamma")
        .dtypes(kFloats)
        .doc("log |gamma(x)|, element by element.")
        .elementwise(Scalar::kLgamma)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * digamma(g.x())}; })
        .keeps("x")
        .samples("uniform(3, 4, low=0.3, high=5)")
        .reference("scipy.special.gammaln(x)");
Tensor lgamma(const In& x) { return lgamma_op(x); }

static const Op digamma_op = OP(Digamma, &digamma)
                                 .args("x")
                                 .python("math.digamma")
                                 .dtypes(kFloats)
                                 .doc("Derivative of lgamma, element by element.")
                                 .elementwise(Scalar::kDigamma)
                                 .gradient(+[](Grad& g) -> Tensors {
                                   // Polygamma knows no 16-bit floats.
                                   DType d = g.x().dtype(), wide = d == float64 ? float64 : float32;
                                   Tensor x = cast(g.x(), wide);
                                   return {g.dy() * cast(polygamma(1, x), d)};
                                 })
                                 .keeps("x")
                                 .samples("uniform(3, 4, low=0.5, high=5)")
                                 .reference("scipy.special.digamma(x)");
Tensor digamma(const In& x) { return digamma_op(x); }

static const Op polygamma_op =
    OP(Polygamma, &polygamma)
        .args("a, x")
        .python("math.polygamma")
        .dtypes(kWideFloats)
        .doc("The a-th derivative of digamma at x, element by element.")
        .elementwise(Scalar::kPolygamma)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), g.wants(1) ? g.dy() * polygamma(g.x(0) + 1, g.x(1)) : Tensor()};
        })
        .keeps("a, x")
        .samples("[[1.0], [2.0]], uniform(3, low=0.5, high=5)")
        .reference("scipy.special.polygamma(a.astype(int), x)");
Tensor polygamma(const In& a, const In& x) { return polygamma_op(a, x); }

static const Op zeta_op =
    OP(Zeta, &zeta)
        .args("x, q")
        .python("math.zeta")
        .dtypes(kWideFloats)
        .doc("Hurwitz zeta function, the sum of (q + n)^-x, element by element.")
        .elementwise(Scalar::kZeta)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), g.wants(1) ? g.dy() * -(g.x(0) * zeta(g.x(0) + 1, g.x(1))) : Tensor()};
        })
        .keeps("x, q")
        .samples("[[1.5], [3.0]], uniform(3, low=0.5, high=5)")
        .reference("scipy.special.zeta(x, q)");
Tensor zeta(const In& x, const In& q) { return zeta_op(x, q); }

static const Op igamma_grad_a_op =
    RAW_OP(IgammaGradA)
        .inputs("a, x")
        .dtypes(kWideFloats)
        .doc("Derivative of the lower incomplete gamma function by its first argument.")
        .elementwise(Scalar::kIgammaGradA)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor a = g.x(0), x = g.x(1);
          // By x: the density's derivative by a. The second derivative by a has no formula here.
          return {Tensor(),
                  g.wants(1) ? g.dy() * gamma_density(a, x) * (log(x) - digamma(a)) : Tensor()};
        })
        .keeps("a, x");

namespace {

Tensor igamma_by_a(const Tensor& a, const Tensor& x) {
  DType d = a.dtype(), wide = d == float64 ? float64 : float32;
  return cast(igamma_grad_a_op(cast(a, wide), cast(x, wide)), d);
}

}  // namespace

static const Op igamma_op =
    OP(Igamma, &igamma)
        .args("a, x")
        .python("math.igamma")
        .dtypes(kFloats)
        .doc("Lower regularised incomplete gamma function P(a, x), element by element.")
        .elementwise(Scalar::kIgamma)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor a = g.x(0), x = g.x(1);
          return {g.wants(0) ? g.dy() * igamma_by_a(a, x) : Tensor(),
                  g.wants(1) ? g.dy() * gamma_density(a, x) : Tensor()};
        })
        .keeps("a, x")
        .samples("positive(3, 4), positive(4)")
        .reference("scipy.special.gammainc(a, x)")
        .checks({.second_gradient = false});
Tensor igamma(const In& a, const In& x) { return igamma_op(a, x); }

static const Op igammac_op = OP(Igammac, &igammac)
                                 .args("a, x")
                                 .python("math.igammac")
                                 .dtypes(kFloats)
                                 .doc(
                                     "Upper regularised incomplete gamma function Q(a, x) = 1 - "
                                     "P(a, x), element by element.")
                                 .elementwise(Scalar::kIgammac)
                                 .gradient(+[](Grad& g) -> Tensors {
                                   Tensor a = g.x(0), x = g.x(1);
                                   return {g.wants(0) ? -(g.dy() * igamma_by_a(a, x)) : Tensor(),
                                           g.wants(1) ? -(g.dy() * gamma_density(a, x)) : Tensor()};
                                 })
                                 .keeps("a, x")
                                 .samples("positive(3, 4), positive(4)")
                                 .reference("scipy.special.gammaincc(a, x)")
                                 .checks({.second_gradient = false});
Tensor igammac(const In& a, const In& x) { return igammac_op(a, x); }

static const Op betainc_op =
    OP(Betainc, &betainc)
        .args("a, b, x")
        .python("math.betainc")
        .dtypes(kWideFloats)
        .doc("Regularised incomplete beta function, element by element.")
        .elementwise(Scalar::kBetainc)
        .gradient(+[](Grad& g) -> Tensors {
          if (!g.wants(2)) return {Tensor(), Tensor(), Tensor()};
          Tensor a = g.x(0), b = g.x(1), x = g.x(2);
          Tensor log_beta = lgamma(a) + lgamma(b) - lgamma(a + b);
          return {Tensor(), Tensor(),
                  g.dy() * exp(xlog1py(b - 1, -x) + xlogy(a - 1, x) - log_beta)};
        })
        .keeps("a, b, x")
        .samples("positive(3, 4), positive(4), uniform(3, 4, low=0.1, high=0.9)")
        .reference("scipy.special.betainc(a, b, x)")
        .checks({.gradient = false});  // by x alone there is one
Tensor betainc(const In& a, const In& b, const In& x) { return betainc_op({a, b, x}); }

REGISTER(
    FUNCTION(&lbeta)
        .args("x")
        .python("math.lbeta")
        .doc("log |beta(x)| over the last axis.")
        .samples("positive(3, 4)", "positive(4)")
        .reference("np.sum(scipy.special.gammaln(x), -1) - scipy.special.gammaln(np.sum(x, -1))"));
Tensor lbeta(const In& x) {
  Tensor t = x;
  return reduce_sum(lgamma(t), {.axis = Sizes(-1)}) - lgamma(reduce_sum(t, {.axis = Sizes(-1)}));
}

}  // namespace holdfast
