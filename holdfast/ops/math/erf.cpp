#include <numbers>

#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"

namespace holdfast {

static const Op op =
    OP(Erf, &erf).args("x").python("math.erf").dtypes(kFloats)
        .doc("Gauss error function, element by element.")
        .elementwise(Scalar::kErf)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy() * (2 * std::numbers::inv_sqrtpi) * exp(-square(g.x()))};
        }).keeps("x")
        .samples("uniform(3, 4, low=-2, high=2)").reference("scipy.special.erf(x)");
Tensor erf(const In& x) { return op(x); }

}  // namespace holdfast
