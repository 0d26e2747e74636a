// The error function, its complement and their inverses.
#include <numbers>

#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"

namespace holdfast {

static const Op erf_op =
    OP(Erf, &erf)
        .args("x")
        .python("math.erf")
        .dtypes(kFloats)
        .doc("Gauss error function, element by element.")
        .elementwise(Scalar::kErf)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy() * (2 * std::numbers::inv_sqrtpi) * exp(-square(g.x()))};
        })
        .keeps("x")
        .samples("uniform(3, 4, low=-2, high=2)")
        .reference("scipy.special.erf(x)");
Tensor erf(const In& x) { return erf_op(x); }

static const Op erfc_op =
    OP(Erfc, &erfc)
        .args("x")
        .python("math.erfc")
        .dtypes(kFloats)
        .doc("1 - erf(x), element by element, without cancellation.")
        .elementwise(Scalar::kErfc)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy() * (-2 * std::numbers::inv_sqrtpi) * exp(-square(g.x()))};
        })
        .keeps("x")
        .samples("uniform(3, 4, low=-2, high=2)")
        .reference("scipy.special.erfc(x)");
Tensor erfc(const In& x) { return erfc_op(x); }

static const Op erfinv_op =
    OP(Erfinv, &erfinv)
        .args("x")
        .python("math.erfinv")
        .dtypes(kFloats)
        .doc("Inverse of erf, element by element.")
        .elementwise(Scalar::kErfinv)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy() * (0.5 / std::numbers::inv_sqrtpi) * exp(square(g.y()))};
        })
        .keeps("output")
        .samples("uniform(3, 4, low=-0.9, high=0.9)")
        .reference("scipy.special.erfinv(x)");
Tensor erfinv(const In& x) { return erfinv_op(x); }

static const Op ndtri_op =
    OP(Ndtri, &ndtri)
        .args("x")
        .python("math.ndtri")
        .dtypes(kFloats)
        .doc("Quantile of the standard normal distribution, element by element.")
        .elementwise(Scalar::kNdtri)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy() * (std::numbers::sqrt2 / std::numbers::inv_sqrtpi) *
                  exp(square(g.y()) * 0.5)};
        })
        .keeps("output")
        .samples("uniform(3, 4, low=0.1, high=0.9)")
        .reference("scipy.special.ndtri(x)");
Tensor ndtri(const In& x) { return ndtri_op(x); }

REGISTER(FUNCTION(&erfcinv)
             .args("x")
             .python("math.erfcinv")
             .doc("Inverse of erfc, element by element.")
             .samples("uniform(3, 4, low=0.1, high=1.9)")
             .reference("scipy.special.erfcinv(x)"));
Tensor erfcinv(const In& x) { return ndtri(x * 0.5) * -(std::numbers::sqrt2 / 2); }

}  // namespace holdfast
