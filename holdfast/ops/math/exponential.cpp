#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"

namespace holdfast {

static const Op exp_op =
    OP(Exp, &exp).args("x").python("exp, math.exp").dtypes(kDifferentiable)
        .doc("e to the power of x, element by element.")
        .elementwise(Scalar::kExp)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * g.y()}; }).keeps("output")
        .samples("uniform(3, 4)").reference("np.exp(x)");
Tensor exp(const In& x) { return exp_op(x); }

}  // namespace holdfast
