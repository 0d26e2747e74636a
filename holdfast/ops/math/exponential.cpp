// Roots, exponentials and logarithms.
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"

namespace holdfast {

static const Op sqrt_grad_op =
    RAW_OP(SqrtGrad)
        .inputs("y, dy")
        .dtypes(kDifferentiable)
        .doc("dy / (2 y): the gradient of sqrt(x) where y = sqrt(x); 0 where dy is 0.")
        .elementwise(Scalar::kSqrtGrad)
        .gradient(+[](Grad& g) -> Tensors {
          // dy / (2 conj(y)): complex y is looked at through its conjugate, so what arrives for it
          // is too.
          Tensor a = g.dy() / g.x(0);
          return {g.wants(0) ? -conj(a) * (g.x(1) * 0.5 / conj(g.x(0))) : Tensor(),
                  g.wants(1) ? a * 0.5 : Tensor()};
        })
        .keeps("y, dy");

static const Op sqrt_op =
    OP(Sqrt, &sqrt)
        .args("x")
        .python("sqrt, math.sqrt")
        .dtypes(kDifferentiable)
        .doc("Square root, element by element.")
        .elementwise(Scalar::kSqrt)
        .gradient(+[](Grad& g) -> Tensors { return {sqrt_grad_op(g.y(), g.dy())}; })
        .keeps("output")
        .samples("positive(3, 4)", "complexes(3)")
        .reference("np.sqrt(x)");
Tensor sqrt(const In& x) { return sqrt_op(x); }

static const Op rsqrt_grad_op =
    RAW_OP(RsqrtGrad)
        .inputs("y, dy")
        .dtypes(kDifferentiable)
        .doc("-dy * y^3 / 2: the gradient of 1 / sqrt(x) where y = 1 / sqrt(x); 0 where dy is 0.")
        .elementwise(Scalar::kRsqrtGrad)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor y = g.x(0);
          return {g.wants(0) ? conj(g.dy()) * -1.5 * g.x(1) * square(conj(y)) : Tensor(),
                  g.wants(1) ? g.dy() * -0.5 * square(y) * y : Tensor()};
        })
        .keeps("y, dy");

static const Op rsqrt_op =
    OP(Rsqrt, &rsqrt)
        .args("x")
        .python("math.rsqrt")
        .dtypes(kDifferentiable)
        .doc("1 / sqrt(x), element by element.")
        .elementwise(Scalar::kRsqrt)
        .gradient(+[](Grad& g) -> Tensors { return {rsqrt_grad_op(g.y(), g.dy())}; })
        .keeps("output")
        .samples("positive(3, 4)", "complexes(3)")
        .reference("1 / np.sqrt(x)");
Tensor rsqrt(const In& x) { return rsqrt_op(x); }

static const Op exp_op = OP(Exp, &exp)
                             .args("x")
                             .python("exp, math.exp")
                             .dtypes(kDifferentiable)
                             .doc("e to the power of x, element by element.")
                             .elementwise(Scalar::kExp)
                             .gradient(+[](Grad& g) -> Tensors { return {g.dy() * conj(g.y())}; })
                             .keeps("output")
                             .samples("uniform(3, 4)", "complexes(3)")
                             .reference("np.exp(x)");
Tensor exp(const In& x) { return exp_op(x); }

static const Op expm1_op =
    OP(Expm1, &expm1)
        .args("x")
        .python("math.expm1")
        .dtypes(kDifferentiable)
        .doc("e^x - 1, element by element, exact near 0.")
        .elementwise(Scalar::kExpm1)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * exp(conj(g.x()))}; })
        .keeps("x")
        .samples("uniform(3, 4)", "complexes(3)")
        .reference("np.expm1(x)");
Tensor expm1(const In& x) { return expm1_op(x); }

static const Op log_op = OP(Log, &log)
                             .args("x")
                             .python("math.log")
                             .dtypes(kDifferentiable)
                             .doc("Natural logarithm, element by element.")
                             .elementwise(Scalar::kLog)
                             .gradient(+[](Grad& g) -> Tensors { return {g.dy() / conj(g.x())}; })
                             .keeps("x")
                             .samples("positive(3, 4)", "complexes(3)")
                             .reference("np.log(x)");
Tensor log(const In& x) { return log_op(x); }

static const Op log1p_op =
    OP(Log1p, &log1p)
        .args("x")
        .python("math.log1p")
        .dtypes(kDifferentiable)
        .doc("log(1 + x), element by element, exact near 0.")
        .elementwise(Scalar::kLog1p)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() / (conj(g.x()) + 1)}; })
        .keeps("x")
        .samples("positive(3, 4)", "complexes(3)")
        .reference("np.log1p(x)");
Tensor log1p(const In& x) { return log1p_op(x); }

namespace {

// 1 where x is not 0: what the x*...(y) functions are multiplied with instead of x.
Tensor where_nonzero(const Tensor& x) { return cast(not_equal(x, 0), x.dtype()); }

}  // namespace

static const Op xlogy_op =
    OP(Xlogy, &xlogy)
        .args("x, y")
        .python("math.xlogy")
        .dtypes(kDifferentiable)
        .doc("x * log(y), element by element, and 0 where x is 0.")
        .elementwise(Scalar::kXlogy)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? g.dy() * xlogy(where_nonzero(g.x(0)), conj(g.x(1))) : Tensor(),
                  g.wants(1) ? g.dy() * xdivy(conj(g.x(0)), conj(g.x(1))) : Tensor()};
        })
        .keeps("x, y")
        .samples("uniform(3, 4), positive(4)")
        .reference("scipy.special.xlogy(x, y)");
Tensor xlogy(const In& x, const In& y) { return xlogy_op(x, y); }

static const Op xlog1py_op =
    OP(Xlog1py, &xlog1py)
        .args("x, y")
        .python("math.xlog1py")
        .dtypes(kDifferentiable)
        .doc("x * log(1 + y), element by element, and 0 where x is 0.")
        .elementwise(Scalar::kXlog1py)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? g.dy() * xlog1py(where_nonzero(g.x(0)), conj(g.x(1))) : Tensor(),
                  g.wants(1) ? g.dy() * xdivy(conj(g.x(0)), conj(g.x(1)) + 1) : Tensor()};
        })
        .keeps("x, y")
        .samples("uniform(3, 4), positive(4)")
        .reference("scipy.special.xlog1py(x, y)");
Tensor xlog1py(const In& x, const In& y) { return xlog1py_op(x, y); }

static const Op xdivy_op =
    OP(Xdivy, &xdivy)
        .args("x, y")
        .python("math.xdivy")
        .dtypes(kDifferentiable)
        .doc("x / y, element by element, and 0 where x is 0.")
        .elementwise(Scalar::kXdivy)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? g.dy() * xdivy(where_nonzero(g.x(0)), conj(g.x(1))) : Tensor(),
                  g.wants(1) ? g.dy() * xdivy(-conj(g.x(0)), square(conj(g.x(1)))) : Tensor()};
        })
        .keeps("x, y")
        .samples("uniform(3, 4), positive(4)")
        .reference("np.where(x == 0, 0, x / y)");
Tensor xdivy(const In& x, const In& y) { return xdivy_op(x, y); }

}  // namespace holdfast
