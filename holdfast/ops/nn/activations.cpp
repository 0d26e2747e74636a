// Activations made of pieces: relu and its relatives.
#include "holdfast/ops/activations.h"

#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"

namespace holdfast {
namespace {

// Zeros for an operand that only chose between pieces.
Tensor nothing_for(Grad& g, int i) { return g.wants(i) ? zeros_like(g.x(i)) : Tensor(); }

}  // namespace

static const Op relu_grad_op = RAW_OP(ReluGrad)
                                   .outputs("backprops")
                                   .inputs("gradients, features")
                                   .dtypes(kReals)
                                   .doc("The gradient of relu: what arrives where features > 0.")
                                   .elementwise(Scalar::kReluGrad)
                                   .gradient(+[](Grad& g) -> Tensors {
                                     return {Op(&g.op)(g.dy(), g.x(1)), nothing_for(g, 1)};
                                   })
                                   .keeps("features");

static const Op relu_op =
    OP(Relu, &nn::relu)
        .outputs("activations")
        .args("features")
        .python("nn.relu")
        .dtypes(kReals)
        .doc("max(x, 0), element by element.")
        .elementwise(Scalar::kRelu)
        .gradient(+[](Grad& g) -> Tensors { return {relu_grad_op(g.dy(), g.y())}; })
        .keeps("activations")
        .samples("uniform(3, 4)", "ints(5)")
        .reference("np.maximum(features, 0)");
Tensor nn::relu(const In& x) { return relu_op(x); }

static const Op relu6_grad_op =
    RAW_OP(Relu6Grad)
        .outputs("backprops")
        .inputs("gradients, features")
        .dtypes(kReals)
        .doc("The gradient of relu6: what arrives where 0 < features < 6.")
        .elementwise(Scalar::kRelu6Grad)
        .gradient(
            +[](Grad& g) -> Tensors { return {Op(&g.op)(g.dy(), g.x(1)), nothing_for(g, 1)}; })
        .keeps("features");

static const Op relu6_op =
    OP(Relu6, &nn::relu6)
        .outputs("activations")
        .args("features")
        .python("nn.relu6")
        .dtypes(kReals)
        .doc("min(max(x, 0), 6), element by element.")
        .elementwise(Scalar::kRelu6)
        .gradient(+[](Grad& g) -> Tensors { return {relu6_grad_op(g.dy(), g.y())}; })
        .keeps("activations")
        .samples("uniform(3, 4, low=-9, high=9)", "ints(5)")
        .reference("np.clip(features, 0, 6)");
Tensor nn::relu6(const In& x) { return relu6_op(x); }

static const Op leaky_relu_grad_op =
    RAW_OP(LeakyReluGrad)
        .outputs("backprops")
        .inputs("gradients, features")
        .attr("alpha", 0.2)
        .dtypes(kFloats)
        .doc("The gradient of leaky_relu: what arrives, times alpha where features <= 0.")
        .elementwise(Scalar::kLeakyReluGrad)
        .gradient(+[](Grad& g) -> Tensors {
          return {Op(&g.op)({g.dy(), g.x(1)}, g.attrs()), nothing_for(g, 1)};
        })
        .keeps("features");

static const Op leaky_relu_op =
    OP(LeakyRelu, &nn::leaky_relu)
        .outputs("activations")
        .args("features")
        .options<&nn::LeakyReluOptions::alpha>("alpha")
        .python("nn.leaky_relu")
        .inputs("features")
        .attr("alpha", 0.2)
        .dtypes(kFloats)
        .doc("x, and alpha * x where x < 0, element by element; integers become float32.")
        .elementwise(Scalar::kLeakyRelu)
        .gradient(
            +[](Grad& g) -> Tensors { return {leaky_relu_grad_op({g.dy(), g.x()}, g.attrs())}; })
        .keeps("features")
        .samples("uniform(3, 4)", "uniform(3, 4), alpha=0.1")
        .reference("np.where(features > 0, features, alpha * features)");
Tensor nn::leaky_relu(const In& x, const LeakyReluOptions& o) {
  Tensor t = x;
  if (t.defined() && is_integer(t.dtype())) t = cast(t, float32);
  return leaky_relu_op({t}, {o.alpha});
}

static const Op elu_grad_op =
    RAW_OP(EluGrad)
        .outputs("backprops")
        .inputs("gradients, outputs")
        .dtypes(kFloats)
        .doc("The gradient of elu, from what elu gave.")
        .elementwise(Scalar::kEluGrad)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? Op(&g.op)(g.dy(), g.x(1)) : Tensor(),
                  g.wants(1) ? select(less(g.x(1), 0), g.dy() * g.x(0), 0) : Tensor()};
        })
        .keeps("gradients, outputs");

static const Op elu_op =
    OP(Elu, &nn::elu)
        .outputs("activations")
        .args("features")
        .python("nn.elu")
        .dtypes(kFloats)
        .doc("x, and e^x - 1 where x < 0, element by element.")
        .elementwise(Scalar::kElu)
        .gradient(+[](Grad& g) -> Tensors { return {elu_grad_op(g.dy(), g.y())}; })
        .keeps("activations")
        .samples("uniform(3, 4)")
        .reference("np.where(features < 0, np.expm1(features), features)");
Tensor nn::elu(const In& x) { return elu_op(x); }

static const Op selu_grad_op =
    RAW_OP(SeluGrad)
        .outputs("backprops")
        .inputs("gradients, outputs")
        .dtypes(kFloats)
        .doc("The gradient of selu, from what selu gave.")
        .elementwise(Scalar::kSeluGrad)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? Op(&g.op)(g.dy(), g.x(1)) : Tensor(),
                  g.wants(1) ? select(less(g.x(1), 0), g.dy() * g.x(0), 0) : Tensor()};
        })
        .keeps("gradients, outputs");

static const Op selu_op =
    OP(Selu, &nn::selu)
        .outputs("activations")
        .args("features")
        .python("nn.selu")
        .dtypes(kFloats)
        .doc("scale * x, and scale * alpha * (e^x - 1) where x < 0, element by element.")
        .elementwise(Scalar::kSelu)
        .gradient(+[](Grad& g) -> Tensors { return {selu_grad_op(g.dy(), g.y())}; })
        .keeps("activations")
        .samples("uniform(3, 4)")
        .reference(
            "np.where(features < 0, 1.7580993408473766 * np.expm1(features), 1.0507009873554805 * "
            "features)");
Tensor nn::selu(const In& x) { return selu_op(x); }

REGISTER(FUNCTION(&nn::crelu)
             .args("features")
             .options<&nn::CreluOptions::axis>("axis")
             .python("nn.crelu")
             .doc("relu of x and of -x, one after the other along `axis`.")
             .samples("uniform(3, 4)", "uniform(3, 4), axis=0")
             .reference("np.maximum(np.concatenate([features, -features], axis), 0)"));
Tensor nn::crelu(const In& x, const CreluOptions& o) {
  Tensor t = x;
  return relu_op(concat({t, -t}, o.axis));
}

}  // namespace holdfast
