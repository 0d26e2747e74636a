// Trigonometric and hyperbolic functions, and their inverses.
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"

namespace holdfast {

static const Op sin_op =
    OP(Sin, &sin)
        .args("x")
        .python("sin, math.sin")
        .dtypes(kDifferentiable)
        .doc("Sine, element by element.")
        .elementwise(Scalar::kSin)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * cos(conj(g.x()))}; })
        .keeps("x")
        .samples("uniform(3, 4, low=-3, high=3)", "complexes(3)")
        .reference("np.sin(x)");
Tensor sin(const In& x) { return sin_op(x); }

static const Op cos_op =
    OP(Cos, &cos)
        .args("x")
        .python("cos, math.cos")
        .dtypes(kDifferentiable)
        .doc("Cosine, element by element.")
        .elementwise(Scalar::kCos)
        .gradient(+[](Grad& g) -> Tensors { return {-(g.dy() * sin(conj(g.x())))}; })
        .keeps("x")
        .samples("uniform(3, 4, low=-3, high=3)", "complexes(3)")
        .reference("np.cos(x)");
Tensor cos(const In& x) { return cos_op(x); }

static const Op tan_op = OP(Tan, &tan)
                             .args("x")
                             .python("tan, math.tan")
                             .dtypes(kDifferentiable)
                             .doc("Tangent, element by element.")
                             .elementwise(Scalar::kTan)
                             .gradient(+[](Grad& g) -> Tensors {
                               return {g.dy() * square(reciprocal(cos(conj(g.x()))))};
                             })
                             .keeps("x")
                             .samples("uniform(3, 4)", "complexes(3)")
                             .reference("np.tan(x)");
Tensor tan(const In& x) { return tan_op(x); }

static const Op asin_op =
    OP(Asin, &asin)
        .args("x")
        .python("asin, math.asin")
        .dtypes(kDifferentiable)
        .doc("Inverse sine, element by element.")
        .elementwise(Scalar::kAsin)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * rsqrt(1 - square(conj(g.x())))}; })
        .keeps("x")
        .samples("uniform(3, 4, low=-0.9, high=0.9)")
        .reference("np.arcsin(x)");
Tensor asin(const In& x) { return asin_op(x); }

static const Op acos_op =
    OP(Acos, &acos)
        .args("x")
        .python("acos, math.acos")
        .dtypes(kDifferentiable)
        .doc("Inverse cosine, element by element.")
        .elementwise(Scalar::kAcos)
        .gradient(+[](Grad& g) -> Tensors { return {-(g.dy() * rsqrt(1 - square(conj(g.x()))))}; })
        .keeps("x")
        .samples("uniform(3, 4, low=-0.9, high=0.9)")
        .reference("np.arccos(x)");
Tensor acos(const In& x) { return acos_op(x); }

static const Op atan_op =
    OP(Atan, &atan)
        .args("x")
        .python("atan, math.atan")
        .dtypes(kDifferentiable)
        .doc("Inverse tangent, element by element.")
        .elementwise(Scalar::kAtan)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() / (1 + square(conj(g.x())))}; })
        .keeps("x")
        .samples("uniform(3, 4, low=-3, high=3)", "complexes(3)")
        .reference("np.arctan(x)");
Tensor atan(const In& x) { return atan_op(x); }

static const Op sinh_op =
    OP(Sinh, &sinh)
        .args("x")
        .python("sinh, math.sinh")
        .dtypes(kDifferentiable)
        .doc("Hyperbolic sine, element by element.")
        .elementwise(Scalar::kSinh)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * cosh(conj(g.x()))}; })
        .keeps("x")
        .samples("uniform(3, 4)", "complexes(3)")
        .reference("np.sinh(x)");
Tensor sinh(const In& x) { return sinh_op(x); }

static const Op cosh_op =
    OP(Cosh, &cosh)
        .args("x")
        .python("cosh, math.cosh")
        .dtypes(kDifferentiable)
        .doc("Hyperbolic cosine, element by element.")
        .elementwise(Scalar::kCosh)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * sinh(conj(g.x()))}; })
        .keeps("x")
        .samples("uniform(3, 4)", "complexes(3)")
        .reference("np.cosh(x)");
Tensor cosh(const In& x) { return cosh_op(x); }

static const Op asinh_op =
    OP(Asinh, &asinh)
        .args("x")
        .python("asinh, math.asinh")
        .dtypes(kDifferentiable)
        .doc("Inverse hyperbolic sine, element by element.")
        .elementwise(Scalar::kAsinh)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() / cosh(conj(g.y()))}; })
        .keeps("output")
        .samples("uniform(3, 4, low=-3, high=3)", "complexes(3)")
        .reference("np.arcsinh(x)");
Tensor asinh(const In& x) { return asinh_op(x); }

static const Op acosh_op =
    OP(Acosh, &acosh)
        .args("x")
        .python("acosh, math.acosh")
        .dtypes(kDifferentiable)
        .doc("Inverse hyperbolic cosine, element by element.")
        .elementwise(Scalar::kAcosh)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() / sinh(conj(g.y()))}; })
        .keeps("output")
        .samples("uniform(3, 4, low=1.5, high=4)")
        .reference("np.arccosh(x)");
Tensor acosh(const In& x) { return acosh_op(x); }

static const Op atanh_op =
    OP(Atanh, &atanh)
        .args("x")
        .python("atanh, math.atanh")
        .dtypes(kDifferentiable)
        .doc("Inverse hyperbolic tangent, element by element.")
        .elementwise(Scalar::kAtanh)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() / (1 - square(conj(g.x())))}; })
        .keeps("x")
        .samples("uniform(3, 4, low=-0.9, high=0.9)")
        .reference("np.arctanh(x)");
Tensor atanh(const In& x) { return atanh_op(x); }

static const Op atan2_op =
    OP(Atan2, &atan2)
        .args("y, x")
        .python("atan2, math.atan2")
        .dtypes(kFloats)
        .doc("Angle of the point (x, y), in [-pi, pi], element by element.")
        .elementwise(Scalar::kAtan2)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor y = g.x(0), x = g.x(1), d = g.dy() / (square(x) + square(y));
          return {g.wants(0) ? x * d : Tensor(), g.wants(1) ? -(y * d) : Tensor()};
        })
        .keeps("y, x")
        .samples("uniform(3, 4), positive(4)")
        .reference("np.arctan2(y, x)");
Tensor atan2(const In& y, const In& x) { return atan2_op(y, x); }

static const Op tanh_grad_op =
    RAW_OP(TanhGrad)
        .inputs("y, dy")
        .dtypes(kDifferentiable)
        .doc("dy * (1 - y * y): the gradient of tanh(x) where y = tanh(x).")
        .elementwise(Scalar::kTanhGrad)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? conj(g.dy()) * -2 * g.x(1) * conj(g.x(0)) : Tensor(),
                  g.wants(1) ? g.dy() * (1 - square(g.x(0))) : Tensor()};
        })
        .keeps("y, dy");

static const Op tanh_op =
    OP(Tanh, &tanh)
        .args("x")
        .python("tanh, math.tanh, nn.tanh")
        .dtypes(kDifferentiable)
        .doc("Hyperbolic tangent, element by element.")
        .elementwise(Scalar::kTanh)
        .gradient(+[](Grad& g) -> Tensors { return {tanh_grad_op(g.y(), g.dy())}; })
        .keeps("output")
        .samples("uniform(3, 4)", "complexes(3)")
        .reference("np.tanh(x)");
Tensor tanh(const In& x) { return tanh_op(x); }

}  // namespace holdfast
