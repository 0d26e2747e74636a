// Smooth activations: those made of exponentials.
#include <numbers>

#include "holdfast/base/text.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/activations.h"

namespace holdfast {

static const Op sigmoid_grad_op =
    RAW_OP(SigmoidGrad)
        .inputs("y, dy")
        .dtypes(kDifferentiable)
        .doc("dy * y * (1 - y): the gradient of sigmoid(x) where y = sigmoid(x).")
        .elementwise(Scalar::kSigmoidGrad)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor y = g.x(0);
          return {g.wants(0) ? conj(g.dy()) * g.x(1) * (1 - 2 * conj(y)) : Tensor(),
                  g.wants(1) ? g.dy() * y * (1 - y) : Tensor()};
        })
        .keeps("y, dy");

static const Op sigmoid_op =
    OP(Sigmoid, &sigmoid)
        .args("x")
        .python("sigmoid, math.sigmoid, nn.sigmoid")
        .dtypes(kDifferentiable)
        .doc("1 / (1 + e^-x), element by element.")
        .elementwise(Scalar::kSigmoid)
        .gradient(+[](Grad& g) -> Tensors { return {sigmoid_grad_op(g.y(), g.dy())}; })
        .keeps("output")
        .samples("uniform(3, 4)")
        .reference("scipy.special.expit(x)");
Tensor sigmoid(const In& x) { return sigmoid_op(x); }

static const Op softplus_grad_op =
    RAW_OP(SoftplusGrad)
        .outputs("backprops")
        .inputs("gradients, features")
        .dtypes(kFloats)
        .doc("The gradient of softplus: what arrives times sigmoid(features).")
        .elementwise(Scalar::kSoftplusGrad)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? Op(&g.op)(g.dy(), g.x(1)) : Tensor(),
                  g.wants(1) ? sigmoid_grad_op(sigmoid(g.x(1)), g.dy() * g.x(0)) : Tensor()};
        })
        .keeps("gradients, features");

static const Op softplus_op =
    OP(Softplus, &softplus)
        .outputs("activations")
        .args("features")
        .python("math.softplus, nn.softplus")
        .dtypes(kFloats)
        .doc("log(1 + e^x), element by element.")
        .elementwise(Scalar::kSoftplus)
        .gradient(+[](Grad& g) -> Tensors { return {softplus_grad_op(g.dy(), g.x())}; })
        .keeps("features")
        .samples("uniform(3, 4)")
        .reference("np.logaddexp(features, 0)");
Tensor softplus(const In& x) { return softplus_op(x); }

REGISTER(FUNCTION(&log_sigmoid)
             .args("x")
             .python("math.log_sigmoid")
             .doc("log(sigmoid(x)), element by element.")
             .samples("uniform(3, 4)")
             .reference("-np.logaddexp(-x, 0)"));
Tensor log_sigmoid(const In& x) { return -softplus(-x.tensor()); }

static const Op softsign_grad_op =
    RAW_OP(SoftsignGrad)
        .outputs("backprops")
        .inputs("gradients, features")
        .dtypes(kFloats)
        .doc("The gradient of softsign: what arrives over (1 + |features|)^2.")
        .elementwise(Scalar::kSoftsignGrad)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor d = 1 + abs(g.x(1));
          return {g.wants(0) ? Op(&g.op)(g.dy(), g.x(1)) : Tensor(),
                  g.wants(1) ? g.dy() * g.x(0) * -2 * sign(g.x(1)) / (d * d * d) : Tensor()};
        })
        .keeps("gradients, features");

static const Op softsign_op =
    OP(Softsign, &softsign)
        .outputs("activations")
        .args("features")
        .python("nn.softsign, math.softsign")
        .dtypes(kFloats)
        .doc("x / (1 + |x|), element by element.")
        .elementwise(Scalar::kSoftsign)
        .gradient(+[](Grad& g) -> Tensors { return {softsign_grad_op(g.dy(), g.x())}; })
        .keeps("features")
        .samples("uniform(3, 4)")
        .reference("features / (1 + np.abs(features))");
Tensor softsign(const In& x) { return softsign_op(x); }

static const Op silu_grad_op = RAW_OP(SiluGrad)
                                   .inputs("gradients, features")
                                   .dtypes(kFloats)
                                   .doc("The gradient of silu.")
                                   .elementwise(Scalar::kSiluGrad)
                                   .gradient(+[](Grad& g) -> Tensors {
                                     if (!g.wants(1)) return {Op(&g.op)(g.dy(), g.x(1)), Tensor()};
                                     Tensor x = g.x(1), s = sigmoid(x);
                                     return {g.wants(0) ? Op(&g.op)(g.dy(), x) : Tensor(),
                                             g.dy() * g.x(0) * s * (1 - s) * (2 + x * (1 - 2 * s))};
                                   })
                                   .keeps("gradients, features");

static const Op silu_op =
    RAW_OP(Silu)
        .inputs("features")
        .dtypes(kFloats)
        .doc("x * sigmoid(x), element by element.")
        .elementwise(Scalar::kSilu)
        .gradient(+[](Grad& g) -> Tensors { return {silu_grad_op(g.dy(), g.x())}; })
        .keeps("features");

REGISTER(
    FUNCTION(&nn::silu)
        .args("features")
        .options<&nn::SiluOptions::beta>("beta")
        .python("nn.silu")
        .doc("x * sigmoid(beta * x), element by element; beta is 1 where it is not given.")
        .samples("uniform(3, 4)", "uniform(3, 4), beta=1.5")
        .reference("features * scipy.special.expit((1 if beta is None else beta) * features)"));
Tensor nn::silu(const In& x, const SiluOptions& o) {
  Tensor t = x;
  if (!o.beta) return silu_op(t);
  Tensor beta = o.beta->tensor(t.defined() ? t.dtype() : DType::kInvalid);
  if (t.defined() && beta.defined() && beta.dtype() != t.dtype())
    beta = cast(beta, t.dtype());  // as TensorFlow does
  return t * sigmoid(beta * t);
}
REGISTER(FUNCTION(&nn::swish)
             .args("features")
             .options<&nn::SiluOptions::beta>("beta")
             .python("nn.swish")
             .doc("x * sigmoid(beta * x), element by element; beta is 1 where it is not given.")
             .samples("uniform(3, 4)")
             .reference("features * scipy.special.expit(features)"));
Tensor nn::swish(const In& x, const SiluOptions& o) { return silu(x, o); }

static const Op gelu_grad_op =
    RAW_OP(GeluGrad)
        .inputs("gradients, features")
        .dtypes(kFloats)
        .doc("The gradient of gelu.")
        .elementwise(Scalar::kGeluGrad)
        .gradient(+[](Grad& g) -> Tensors {
          if (!g.wants(1)) return {Op(&g.op)(g.dy(), g.x(1)), Tensor()};
          Tensor x = g.x(1), z = square(x);
          Tensor density = exp(z * -0.5) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
          return {g.wants(0) ? Op(&g.op)(g.dy(), x) : Tensor(),
                  g.dy() * g.x(0) * density * (2 - z)};
        })
        .keeps("gradients, features");

static const Op gelu_op =
    RAW_OP(Gelu)
        .inputs("features")
        .dtypes(kFloats)
        .doc("x times the standard normal distribution function at x.")
        .elementwise(Scalar::kGelu)
        .gradient(+[](Grad& g) -> Tensors { return {gelu_grad_op(g.dy(), g.x())}; })
        .keeps("features");

static const Op gelu_tanh_grad_op =
    RAW_OP(GeluTanhGrad)
        .inputs("gradients, features")
        .dtypes(kFloats)
        .doc("The gradient of gelu by its tanh approximation.")
        .elementwise(Scalar::kGeluTanhGrad)
        .gradient(+[](Grad& g) -> Tensors {
          if (!g.wants(1)) return {Op(&g.op)(g.dy(), g.x(1)), Tensor()};
          // u = c (x + a x^3), t = tanh(u); gelu'' = (1 - t^2) (u' + x u'' / 2 - x t u'^2).
          constexpr double a = 0.044715, c = 0.79788456080286535588;
          Tensor x = g.x(1), z = square(x), t = tanh(c * (x + a * x * z));
          Tensor slope = c * (1 + 3 * a * z), bend = 6 * a * c * x;
          Tensor second = (1 - square(t)) * (slope + x * bend * 0.5 - x * t * square(slope));
          return {g.wants(0) ? Op(&g.op)(g.dy(), x) : Tensor(), g.dy() * g.x(0) * second};
        })
        .keeps("gradients, features");

static const Op gelu_tanh_op =
    RAW_OP(GeluTanh)
        .inputs("features")
        .dtypes(kFloats)
        .doc("gelu by its tanh approximation.")
        .elementwise(Scalar::kGeluTanh)
        .gradient(+[](Grad& g) -> Tensors { return {gelu_tanh_grad_op(g.dy(), g.x())}; })
        .keeps("features");

REGISTER(FUNCTION(&nn::gelu)
             .args("features")
             .options<&nn::GeluOptions::approximate>("approximate")
             .python("nn.gelu")
             .doc("x times the standard normal distribution function at x, element by element; "
                  "`approximate` takes tanh for it.")
             .samples("uniform(3, 4, low=-3, high=3)",
                      "uniform(3, 4, low=-3, high=3), approximate=True")
             .reference("0.5 * features * (1 + np.tanh(np.sqrt(2 / np.pi) * (features + 0.044715 * "
                        "features ** 3)))"
                        " if approximate else 0.5 * features * (1 + scipy.special.erf(features / "
                        "np.sqrt(2)))"));
Tensor nn::gelu(const In& x, const GeluOptions& o) {
  return o.approximate ? gelu_tanh_op(x) : gelu_op(x);
}

}  // namespace holdfast
