#include "holdfast/keras/layers/activation.h"

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/activations.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/ops/activations.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"

namespace holdfast::keras::layers {
namespace {

ClassDef& activation_layer =
    Declare<ActivationLayer>("layers.Activation", "An activation, by name or as a function.",
                             &Layer::def())
        .required<&ActivationLayerOptions::activation>("activation")
        .layer_options();
ClassDef& relu_layer =
    Declare<ReLULayer>("layers.ReLU",
                       "The larger of inputs and zero: `negative_slope * (inputs - threshold)` "
                       "below `threshold`, at most `max_value`.",
                       &Layer::def())
        .option<&ReLUOptions::max_value>("max_value")
        .option<&ReLUOptions::negative_slope>("negative_slope")
        .option<&ReLUOptions::threshold>("threshold")
        .layer_options();
ClassDef& leaky_relu_layer =
    Declare<LeakyReLULayer>("layers.LeakyReLU",
                            "Inputs, times `negative_slope` where they are below zero.",
                            &Layer::def())
        .option<&LeakyReLUOptions::negative_slope>("negative_slope")
        .layer_options();
ClassDef& prelu_layer =
    Declare<PReLULayer>("layers.PReLU",
                        "Inputs, times a slope that is trained where they are below zero.",
                        &Layer::def())
        .option<&PReLUOptions::alpha_initializer>("alpha_initializer")
        .option<&PReLUOptions::alpha_regularizer>("alpha_regularizer")
        .option<&PReLUOptions::alpha_constraint>("alpha_constraint")
        .option<&PReLUOptions::shared_axes>("shared_axes")
        .layer_options()
        .weight<&PReLULayer::alpha>("alpha");
ClassDef& elu_layer =
    Declare<ELULayer>("layers.ELU",
                      "Inputs, and `alpha * (exp(inputs) - 1)` where they are below zero.",
                      &Layer::def())
        .option<&ELUOptions::alpha>("alpha")
        .layer_options()
        .key_before("alpha", "trainable");
ClassDef& softmax_layer =
    Declare<SoftmaxLayer>(
        "layers.Softmax",
        "Probabilities from logits along `axis`; what a mask leaves out has none.", &Layer::def())
        .option<&SoftmaxOptions::axis>("axis")
        .layer_options()
        .parameters({"inputs", "mask"});

void need_not_negative(double value, const char* option, const std::string& of) {
  if (!(value >= 0))
    fail(Code::E1103, cat(of, ": `", option, "` is ", value, ", expected at least 0"));
}

}  // namespace

const ClassDef& ActivationLayer::definition() const { return activation_layer; }
const ClassDef& ReLULayer::definition() const { return relu_layer; }
const ClassDef& LeakyReLULayer::definition() const { return leaky_relu_layer; }
const ClassDef& PReLULayer::definition() const { return prelu_layer; }
const ClassDef& ELULayer::definition() const { return elu_layer; }
const ClassDef& SoftmaxLayer::definition() const { return softmax_layer; }

Tensor ActivationLayer::call(const Tensor& inputs, const CallOptions&) {
  return options_.activation ? (*options_.activation)(inputs) : inputs;
}

void ReLULayer::check() {
  const std::string& of = definition().name;
  if (options_.max_value) need_not_negative(*options_.max_value, "max_value", of);
  need_not_negative(options_.negative_slope, "negative_slope", of);
  need_not_negative(options_.threshold, "threshold", of);
}

Tensor ReLULayer::call(const Tensor& x, const CallOptions&) {
  const ReLUOptions& o = options_;
  if (o.threshold == 0 && o.negative_slope == 0) {
    if (!o.max_value) return nn::relu(x);
    if (*o.max_value == 6) return nn::relu6(x);
    return minimum(nn::relu(x), *o.max_value);
  }
  // Below the threshold a line through it, above it the inputs themselves.
  Tensor above = o.threshold == 0 ? nn::relu(x) : select(x > o.threshold, x, zeros_like(x));
  if (o.max_value) above = minimum(above, *o.max_value);
  if (o.negative_slope == 0) return above;
  return above - nn::relu(o.threshold - x) * o.negative_slope;
}

void LeakyReLULayer::check() {
  need_not_negative(options_.negative_slope, "negative_slope", definition().name);
}

Tensor LeakyReLULayer::call(const Tensor& inputs, const CallOptions&) {
  return nn::leaky_relu(inputs, {.alpha = options_.negative_slope});
}

void PReLULayer::check() {
  if (options_.shared_axes) options_.shared_axes->single = false;
}

void PReLULayer::build(const Shape& inputs) {
  if (!inputs.has_rank() || inputs.rank() < 1)
    fail(Code::E1102, cat(described(), ": `inputs` has the shape ", inputs.text(),
                          ", expected a known number of axes, the first of them the batch"));
  std::vector<int64_t> dims;
  const std::vector<int64_t> shared =
      options_.shared_axes ? options_.shared_axes->sizes : std::vector<int64_t>();
  for (int64_t axis : shared)
    if (axis < 1 || axis >= inputs.rank())
      fail(Code::E1102,
           cat(described(), ": `inputs` has the shape ", inputs.text(),
               ", expected one that has an axis ", axis, ", one of `shared_axes`"),
           "1 is the first axis behind the batch");
  for (int i = 1; i < inputs.rank(); ++i)
    dims.push_back(std::find(shared.begin(), shared.end(), i) != shared.end()
                       ? 1
                       : known_size(*this, inputs, i,
                                    "each element has a slope of its own, but along "
                                    "`shared_axes`"));
  alpha = add_weight({.name = "alpha",
                      .shape = dims,
                      .initializer = options_.alpha_initializer,
                      .regularizer = options_.alpha_regularizer,
                      .constraint = options_.alpha_constraint});
}

std::optional<InputSpec> PReLULayer::input_spec() const {
  if (!alpha.defined()) return {};
  InputSpec out{.axes = alpha.shape().rank() + 1};
  const std::vector<int64_t> shared =
      options_.shared_axes ? options_.shared_axes->sizes : std::vector<int64_t>();
  for (int i = 1; i < out.axes; ++i)
    if (std::find(shared.begin(), shared.end(), i) == shared.end())
      out.sizes.emplace_back(i, alpha.shape()[i - 1]);
  return out;
}

Tensor PReLULayer::call(const Tensor& inputs, const CallOptions&) {
  need_built(*this, alpha, "alpha");
  need_axes(*this, inputs.shape(), alpha.shape().rank() + 1, "those that the layer was built for");
  for (int i = 0; i < alpha.shape().rank(); ++i)
    if (alpha.shape()[i] > 1)
      need_size(*this, inputs.shape(), i + 1, alpha.shape()[i],
                "the layer was built for that size");
  return nn::relu(inputs) - read(alpha) * nn::relu(-inputs);
}

Tensor ELULayer::call(const Tensor& inputs, const CallOptions&) {
  if (options_.alpha == 1) return nn::elu(inputs);
  return select(inputs > 0, inputs, options_.alpha * nn::elu(inputs));
}

Tensor SoftmaxLayer::call(const Tensor& inputs, const CallOptions& c) {
  Tensor x = inputs, kept;
  if (inputs.shape().has_rank())
    for (int64_t a : options_.axis.sizes) axis_of(*this, inputs.shape(), a);
  if (c.mask.is_tensor()) {
    kept = c.mask.tensor();
    const bool ranks = kept.shape().has_rank() && x.shape().has_rank();
    bool fits = !ranks || kept.rank() <= x.rank();
    for (int i = 1; ranks && fits && i <= kept.rank(); ++i)
      fits = kept.dim(-i) <= 1 || x.dim(-i) < 0 || kept.dim(-i) == x.dim(-i);
    if (!fits)
      fail(Code::E1102,
           cat(described(), ": `mask` is ", kept.shape().text(), ", expected what broadcasts to ",
               x.shape().text()),
           cat("it says of each of the `inputs`, which have the shape ", x.shape().text(),
               ", whether it counts"));
    if (kept.dtype() != boolean) kept = kept > 0.5;
    kept = logical_and(kept, ones_like(x, boolean));
    x = select(kept, x,
               fill(shape_of(x), Tensor::scalar(x.dtype() == float16 ? -3e4 : -1e9, x.dtype())));
  }
  Tensor y = activations::softmax(x, {.axis = options_.axis});
  return kept.defined() ? select(kept, y, zeros_like(y)) : y;
}

}  // namespace holdfast::keras::layers
