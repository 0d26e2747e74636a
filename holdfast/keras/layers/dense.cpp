#include "holdfast/keras/layers/dense.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/op/advice.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"

namespace holdfast::keras::layers {
namespace {

using O = DenseOptions;
ClassDef& declared =
    Declare<DenseLayer>("layers.Dense", "`activation(inputs @ kernel + bias)`, over the last axis.",
                        &Layer::def())
        .required<&O::units>("units")
        .option<&O::activation>("activation")
        .option<&O::use_bias>("use_bias")
        .option<&O::kernel_initializer>("kernel_initializer")
        .option<&O::bias_initializer>("bias_initializer")
        .option<&O::kernel_regularizer>("kernel_regularizer")
        .option<&O::bias_regularizer>("bias_regularizer")
        .option<&O::activity_regularizer>("activity_regularizer", false)
        .option<&O::kernel_constraint>("kernel_constraint")
        .option<&O::bias_constraint>("bias_constraint")
        .layer_options()
        .option<&O::quantization_config>("quantization_config")
        .weight<&DenseLayer::kernel>("kernel")
        .weight<&DenseLayer::bias>("bias");

}  // namespace

DenseLayer::DenseLayer(const DenseOptions& o) { configure(o); }
const ClassDef& DenseLayer::definition() const { return declared; }

void DenseLayer::check() {
  if (options_.units < 1)
    fail(Code::E1103, cat("Dense: `units` is ", options_.units, ", expected at least 1"),
         "units are the size of the last axis of what the layer gives");
  refuse_quantized("Dense", options_.quantization_config);
}

std::optional<InputSpec> DenseLayer::input_spec() const {
  InputSpec out{.at_least = 2};
  if (kernel.defined() && kernel.shape().rank() == 2) out.sizes = {{-1, kernel.shape()[0]}};
  return out;
}

void DenseLayer::need_inputs(const Shape& inputs) const {
  int64_t wanted = kernel.defined() && kernel.shape().rank() == 2 ? kernel.shape()[0] : -1;
  bool fits = !inputs.has_rank() || inputs.rank() >= 2;
  if (fits && inputs.has_rank() && wanted >= 0)
    fits = inputs[inputs.rank() - 1] == wanted || inputs[inputs.rank() - 1] < 0;
  if (fits) return;
  fail(Code::E1102,
       cat(described(), ": `inputs` has the shape ", inputs.text(), ", expected ",
           wanted >= 0 ? cat("[..., ", wanted, "]") : "at least two axes"),
       wanted >= 0 ? cat("the layer was built for a last axis of ", wanted,
                         ", which its kernel is multiplied with")
                   : "the last axis is multiplied with the kernel, those before it are the batch",
       {manual_fix(wanted >= 0 ? "give inputs of that size, or use a layer of their own"
                               : cat("give the inputs a batch axis: `",
                                     written(Advice::kNewAxis, {"x"}), "`"))});
}

void DenseLayer::build(const Shape& inputs) {
  if (options_.units < 1)
    fail(Code::E1104, cat(described(), " was never given its `units`"),
         "the constructor of Dense did not run",
         {manual_fix(cat("call `", written(Advice::kConstructLayer, {"Dense", "units"}), "`"))});
  need_inputs(inputs);
  int64_t last = inputs.has_rank() ? inputs[inputs.rank() - 1] : -1;
  if (last < 0)
    fail(Code::E1102,
         cat(described(), ": `inputs` has the shape ", inputs.text(),
             ", expected a known last axis"),
         "the kernel has one row for each element of the last axis");
  const O& o = options_;
  kernel = add_weight({.name = "kernel",
                       .shape = {last, o.units},
                       .initializer = o.kernel_initializer,
                       .regularizer = o.kernel_regularizer,
                       .constraint = o.kernel_constraint});
  if (o.use_bias)
    bias = add_weight({.name = "bias",
                       .shape = {o.units},
                       .initializer = o.bias_initializer,
                       .regularizer = o.bias_regularizer,
                       .constraint = o.bias_constraint});
}

Tensor DenseLayer::call(const Tensor& inputs, const CallOptions&) {
  if (!kernel.defined())
    fail(Code::E1104, cat(described(), " has no kernel"),
         "`build` makes it, and a class that overrides `build` has to call the one it overrides",
         {manual_fix(cat("call `", written(Advice::kBuildBase, {"DenseLayer"}), "` in `build`"))});
  need_inputs(inputs.shape());
  Tensor x = as_factor(*this, inputs), w = read(kernel);
  if (x.dtype() != w.dtype())
    fail(Code::E1101, cat(described(), ": `inputs` is ", holdfast::name(inputs.dtype()),
                          ", expected ", holdfast::name(w.dtype()), ", the dtype of its kernel"));
  Tensor y = matmul(x, w);
  if (bias.defined()) y = y + read(bias);
  return options_.activation ? (*options_.activation)(y) : y;
}

}  // namespace holdfast::keras::layers
