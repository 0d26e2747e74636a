#include "holdfast/keras/layers/spatial/convolution.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/conv.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

using O = ConvOptions;
template <class L>
ClassDef& declare(const char* path, const char* alias, const char* doc) {
  return Declare<L>(path, doc, &Layer::def())
      .template required<&O::filters>("filters")
      .template required<&O::kernel_size>("kernel_size")
      .template option<&O::strides>("strides")
      .template option<&O::padding>("padding")
      .template option<&O::data_format>("data_format")
      .template option<&O::dilation_rate>("dilation_rate")
      .template option<&O::groups>("groups")
      .template option<&O::activation>("activation")
      .template option<&O::use_bias>("use_bias")
      .template option<&O::kernel_initializer>("kernel_initializer")
      .template option<&O::bias_initializer>("bias_initializer")
      .template option<&O::kernel_regularizer>("kernel_regularizer")
      .template option<&O::bias_regularizer>("bias_regularizer")
      .template option<&O::activity_regularizer>("activity_regularizer")
      .template option<&O::kernel_constraint>("kernel_constraint")
      .template option<&O::bias_constraint>("bias_constraint")
      .layer_options()
      .template weight<&L::kernel>("kernel")
      .template weight<&L::bias>("bias")
      .alias(alias);
}

ClassDef& conv1d = declare<Conv1DLayer>(
    "layers.Conv1D", "layers.Convolution1D",
    "Convolution over steps of time: `activation(conv(inputs, kernel) + bias)`.");
ClassDef& conv2d =
    declare<Conv2DLayer>("layers.Conv2D", "layers.Convolution2D",
                         "Convolution over images: `activation(conv(inputs, kernel) + bias)`.");
ClassDef& conv3d =
    declare<Conv3DLayer>("layers.Conv3D", "layers.Convolution3D",
                         "Convolution over volumes: `activation(conv(inputs, kernel) + bias)`.");

}  // namespace

const ClassDef& Conv1DLayer::definition() const { return conv1d; }
const ClassDef& Conv2DLayer::definition() const { return conv2d; }
const ClassDef& Conv3DLayer::definition() const { return conv3d; }

ConvLayer::ConvLayer(int axes) : axes_(axes) {
  options_.strides.sizes.assign(static_cast<size_t>(axes), 1);
  options_.dilation_rate = options_.strides;
}

void ConvLayer::check() {
  O& o = options_;
  const std::string& of = definition().name;
  need_at_least(o.filters, 1, "filters", of);
  need_at_least(o.groups, 1, "groups", of);
  if (o.filters % o.groups)
    fail(Code::E1103,
         cat(of, ": `filters` is ", o.filters, ", expected a multiple of `groups`, ", o.groups));
  settle_sides(o.kernel_size, axes_, 1, "kernel_size", of);
  settle_sides(o.strides, axes_, 1, "strides", of);
  settle_sides(o.dilation_rate, axes_, 1, "dilation_rate", of);
  settle_format(o.data_format, of);
  if (axes_ == 1)
    settle_padding(o.padding, {"valid", "same", "causal"}, of);
  else
    settle_padding(o.padding, {"valid", "same"}, of);
  need_one_of(o.strides, o.dilation_rate, of);
}

std::vector<int64_t> ConvLayer::window() const {
  std::vector<int64_t> out = options_.kernel_size.sizes;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = (out[i] - 1) * options_.dilation_rate.sizes[i] + 1;
  return out;
}

void ConvLayer::need_inputs(const Shape& inputs) const {
  const O& o = options_;
  int channels = need_field(*this, inputs, axes_, o.data_format);
  if (kernel.defined() && kernel.shape().rank() == axes_ + 2)
    need_size(*this, inputs, channels, kernel.shape()[axes_] * o.groups,
              "the layer was built for so many channels, which its kernel mixes");
  if (o.padding == "valid") need_room(*this, inputs, window(), o.data_format, "the kernel");
}

std::optional<InputSpec> ConvLayer::input_spec() const {
  return field_spec(axes_, options_.data_format, kernel, axes_, options_.groups);
}

void ConvLayer::build(const Shape& inputs) {
  const O& o = options_;
  need_inputs(inputs);
  int axis = channels_first(o.data_format) ? 1 : axes_ + 1;
  int64_t channels = known_size(*this, inputs, axis, "the kernel has weights for each channel");
  if (channels % o.groups)
    fail(Code::E1102,
         cat(described(), ": `inputs` has the shape ", inputs.text(), ", expected a multiple of ",
             o.groups, " along axis ", axis),
         cat("expected a multiple of ", o.groups, " along axis ", axis,
             ": each of the layer's `groups` takes as many channels"));
  std::vector<int64_t> dims = o.kernel_size.sizes;
  dims.insert(dims.end(), {channels / o.groups, o.filters});
  kernel = add_weight({.name = "kernel",
                       .shape = dims,
                       .initializer = o.kernel_initializer,
                       .regularizer = o.kernel_regularizer,
                       .constraint = o.kernel_constraint});
  if (o.use_bias)
    bias = add_weight({.name = "bias",
                       .shape = {o.filters},
                       .initializer = o.bias_initializer,
                       .regularizer = o.bias_regularizer,
                       .constraint = o.bias_constraint});
}

Tensor ConvLayer::call(const Tensor& inputs, const CallOptions&) {
  const O& o = options_;
  need_built(*this, kernel, "kernel");
  need_inputs(inputs.shape());
  nn::Padding padding(o.padding == "same" ? "SAME" : "VALID");
  if (o.padding == "causal") {  // what comes later has no part in a step
    int64_t before = window()[0] - 1;
    padding = channels_first(o.data_format) ? nn::Padding({{0, 0}, {0, 0}, {before, 0}})
                                            : nn::Padding({{0, 0}, {before, 0}, {0, 0}});
  }
  Tensor y = nn::convolution(as_input(inputs), read(kernel),
                             {.strides = o.strides.sizes,
                              .padding = padding,
                              .data_format = op_format(axes_, o.data_format),
                              .dilations = o.dilation_rate.sizes});
  if (bias.defined()) y = y + by_channel(read(bias), axes_, o.data_format);
  return o.activation ? (*o.activation)(y) : y;
}

}  // namespace holdfast::keras::layers
