#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"

namespace holdfast {

static const Op floor_op =
    OP(Floor, &floor)
        .args("x")
        .python("floor, math.floor")
        .dtypes(kFloats)
        .flat(Flat::kStep)
        .no_gradient()
        .doc("The largest whole number that is not above x, element by element.")
        .elementwise(Scalar::kFloor)
        .samples("uniform(3, 4, low=-9, high=9)")
        .reference("np.floor(x)");
Tensor floor(const In& x) { return floor_op(x); }

static const Op ceil_op =
    OP(Ceil, &ceil)
        .args("x")
        .python("math.ceil")
        .dtypes(kFloats)
        .flat(Flat::kStep)
        .no_gradient()
        .doc("The smallest whole number that is not below x, element by element.")
        .elementwise(Scalar::kCeil)
        .samples("uniform(3, 4, low=-9, high=9)")
        .reference("np.ceil(x)");
Tensor ceil(const In& x) { return ceil_op(x); }

static const Op round_op =
    OP(Round, &round)
        .args("x")
        .python("round, math.round")
        .dtypes(kReals)
        .flat(Flat::kStep)
        .no_gradient()
        .doc("The nearest whole number, half to even, element by element.")
        .elementwise(Scalar::kRound)
        .samples("uniform(3, 4, low=-9, high=9)", "[0.5, 1.5, 2.5, -0.5]", "ints(5)")
        .reference("np.round(x)");
Tensor round(const In& x) { return round_op(x); }

static const Op rint_op = OP(Rint, &rint)
                              .args("x")
                              .python("math.rint")
                              .dtypes(kFloats)
                              .flat(Flat::kStep)
                              .no_gradient()
                              .doc("The nearest whole number, half to even, element by element.")
                              .elementwise(Scalar::kRound)
                              .samples("uniform(3, 4, low=-9, high=9)", "[0.5, 1.5, 2.5, -0.5]")
                              .reference("np.rint(x)");
Tensor rint(const In& x) { return rint_op(x); }

}  // namespace holdfast
