#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"

namespace holdfast {

static const Op add_op =
    OP(AddV2, &add).args("x, y").python("add, math.add").dtypes(kNumbers | kStrings).commutative()
        .doc("x + y, element by element; strings are joined.")
        .elementwise(Scalar::kAdd)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy(), g.dy()}; }).keeps("")
        .samples("uniform(3, 4), uniform(3, 4)", "uniform(3, 1), uniform(4)", "ints(5), ints(5)")
        .reference("x + y");
Tensor add(const In& x, const In& y) { return add_op(x, y); }

static const Op sub_op =
    OP(Sub, &subtract).args("x, y").python("subtract, math.subtract").dtypes(kNumbers)
        .doc("x - y, element by element.")
        .elementwise(Scalar::kSub)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy(), g.wants(1) ? -g.dy() : Tensor()}; }).keeps("")
        .samples("uniform(3, 4), uniform(4)").reference("x - y");
Tensor subtract(const In& x, const In& y) { return sub_op(x, y); }

static const Op mul_op =
    OP(Mul, &multiply).args("x, y").python("multiply, math.multiply").dtypes(kNumbers).commutative()
        .doc("x * y, element by element.")
        .elementwise(Scalar::kMul)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? g.dy() * g.x(1) : Tensor(), g.wants(1) ? g.dy() * g.x(0) : Tensor()};
        })
        .samples("uniform(3, 4), uniform(4)").reference("x * y");
Tensor multiply(const In& x, const In& y) { return mul_op(x, y); }

static const Op neg_op =
    OP(Neg, &negative).args("x").python("negative, math.negative").dtypes(kNumbers)
        .doc("-x, element by element.")
        .elementwise(Scalar::kNeg)
        .gradient(+[](Grad& g) -> Tensors { return {-g.dy()}; }).keeps("")
        .samples("uniform(3, 4)").reference("-x");
Tensor negative(const In& x) { return neg_op(x); }

static const Op square_op =
    OP(Square, &square).args("x").python("square, math.square").dtypes(kNumbers)
        .doc("x * x, element by element.")
        .elementwise(Scalar::kSquare)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * g.x() * 2}; }).keeps("x")
        .samples("uniform(3, 4)").reference("x * x");
Tensor square(const In& x) { return square_op(x); }

}  // namespace holdfast
