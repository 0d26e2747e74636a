// Modified Bessel functions of the first kind.
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"

namespace holdfast {
namespace {

// I1(x) / x, whose limit at 0 is 1/2.
Tensor over_x(const Tensor& i1, const Tensor& x) {
  Tensor zero = equal(x, 0);
  return select(zero, 0.5, i1 / select(zero, 1, x));
}

}  // namespace

static const Op i0_op =
    OP(BesselI0, &bessel_i0)
        .args("x")
        .python("math.bessel_i0, math.special.bessel_i0")
        .dtypes(kFloats)
        .doc("Modified Bessel function of the first kind, order 0, element by element.")
        .elementwise(Scalar::kBesselI0)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * bessel_i1(g.x())}; })
        .keeps("x")
        .samples("uniform(3, 4, low=-3, high=3)")
        .reference("scipy.special.i0(x)");
Tensor bessel_i0(const In& x) { return i0_op(x); }

static const Op i0e_op = OP(BesselI0e, &bessel_i0e)
                             .args("x")
                             .python("math.bessel_i0e, math.special.bessel_i0e")
                             .dtypes(kFloats)
                             .doc("e^-|x| bessel_i0(x), element by element.")
                             .elementwise(Scalar::kBesselI0e)
                             .gradient(+[](Grad& g) -> Tensors {
                               return {g.dy() * (bessel_i1e(g.x()) - sign(g.x()) * g.y())};
                             })
                             .keeps("x, output")
                             .samples("uniform(3, 4, low=-3, high=3)")
                             .reference("scipy.special.i0e(x)");
Tensor bessel_i0e(const In& x) { return i0e_op(x); }

static const Op i1_op =
    OP(BesselI1, &bessel_i1)
        .args("x")
        .python("math.bessel_i1, math.special.bessel_i1")
        .dtypes(kFloats)
        .doc("Modified Bessel function of the first kind, order 1, element by element.")
        .elementwise(Scalar::kBesselI1)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy() * (bessel_i0(g.x()) - over_x(g.y(), g.x()))};
        })
        .keeps("x, output")
        .samples("uniform(3, 4, low=-3, high=3)")
        .reference("scipy.special.i1(x)");
Tensor bessel_i1(const In& x) { return i1_op(x); }

static const Op i1e_op =
    OP(BesselI1e, &bessel_i1e)
        .args("x")
        .python("math.bessel_i1e, math.special.bessel_i1e")
        .dtypes(kFloats)
        .doc("e^-|x| bessel_i1(x), element by element.")
        .elementwise(Scalar::kBesselI1e)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy() * (bessel_i0e(g.x()) - sign(g.x()) * g.y() - over_x(g.y(), g.x()))};
        })
        .keeps("x, output")
        .samples("uniform(3, 4, low=-3, high=3)")
        .reference("scipy.special.i1e(x)");
Tensor bessel_i1e(const In& x) { return i1e_op(x); }

}  // namespace holdfast
