#include "holdfast/keras/layers/spatial/depthwise.h"

#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/conv.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

template <class L>
ClassDef& declare_depthwise(const char* path, const char* doc) {
  using O = DepthwiseConvOptions;
  return Declare<L>(path, doc, &Layer::def())
      .template required<&O::kernel_size>("kernel_size")
      .template option<&O::strides>("strides")
      .template option<&O::padding>("padding")
      .template option<&O::depth_multiplier>("depth_multiplier")
      .template option<&O::data_format>("data_format")
      .template option<&O::dilation_rate>("dilation_rate")
      .template option<&O::activation>("activation")
      .template option<&O::use_bias>("use_bias")
      .template option<&O::depthwise_initializer>("depthwise_initializer")
      .template option<&O::bias_initializer>("bias_initializer")
      .template option<&O::depthwise_regularizer>("depthwise_regularizer")
      .template option<&O::bias_regularizer>("bias_regularizer")
      .template option<&O::activity_regularizer>("activity_regularizer")
      .template option<&O::depthwise_constraint>("depthwise_constraint")
      .template option<&O::bias_constraint>("bias_constraint")
      .layer_options()
      .key_before("depth_multiplier", "kernel_size")
      .template weight<&L::kernel>("kernel")
      .template weight<&L::bias>("bias");
}
template <class L>
ClassDef& declare_separable(const char* path, const char* alias, const char* doc) {
  using O = SeparableConvOptions;
  return Declare<L>(path, doc, &Layer::def())
      .template required<&O::filters>("filters")
      .template required<&O::kernel_size>("kernel_size")
      .template option<&O::strides>("strides")
      .template option<&O::padding>("padding")
      .template option<&O::data_format>("data_format")
      .template option<&O::dilation_rate>("dilation_rate")
      .template option<&O::depth_multiplier>("depth_multiplier")
      .template option<&O::activation>("activation")
      .template option<&O::use_bias>("use_bias")
      .template option<&O::depthwise_initializer>("depthwise_initializer")
      .template option<&O::pointwise_initializer>("pointwise_initializer")
      .template option<&O::bias_initializer>("bias_initializer")
      .template option<&O::depthwise_regularizer>("depthwise_regularizer")
      .template option<&O::pointwise_regularizer>("pointwise_regularizer")
      .template option<&O::bias_regularizer>("bias_regularizer")
      .template option<&O::activity_regularizer>("activity_regularizer")
      .template option<&O::depthwise_constraint>("depthwise_constraint")
      .template option<&O::pointwise_constraint>("pointwise_constraint")
      .template option<&O::bias_constraint>("bias_constraint")
      .layer_options()
      .key_before("depth_multiplier", "filters")
      .template weight<&L::depthwise_kernel>("depthwise_kernel")
      .template weight<&L::pointwise_kernel>("pointwise_kernel")
      .template weight<&L::bias>("bias")
      .alias(alias);
}

ClassDef& depthwise1d = declare_depthwise<DepthwiseConv1DLayer>(
    "layers.DepthwiseConv1D", "Convolution over steps of time, of each channel by itself.");
ClassDef& depthwise2d = declare_depthwise<DepthwiseConv2DLayer>(
    "layers.DepthwiseConv2D", "Convolution over images, of each channel by itself.");
ClassDef& separable1d = declare_separable<SeparableConv1DLayer>(
    "layers.SeparableConv1D", "layers.SeparableConvolution1D",
    "Convolution over steps of time, of each channel by itself; then the channels are mixed.");
ClassDef& separable2d = declare_separable<SeparableConv2DLayer>(
    "layers.SeparableConv2D", "layers.SeparableConvolution2D",
    "Convolution over images, of each channel by itself; then the channels are mixed.");

// What both families check of their options.
template <class O>
void settle(O& o, int axes, const std::string& of) {
  need_at_least(o.depth_multiplier, 1, "depth_multiplier", of);
  settle_sides(o.kernel_size, axes, 1, "kernel_size", of);
  settle_sides(o.strides, axes, 1, "strides", of);
  settle_sides(o.dilation_rate, axes, 1, "dilation_rate", of);
  settle_format(o.data_format, of);
  settle_padding(o.padding, {"valid", "same"}, of);
}

// Checks inputs, gives the axis of the channels.
template <class O>
int need_inputs(const Layer& layer, const Shape& inputs, int axes, const O& o,
                const Variable& kernel) {
  int channels = need_field(layer, inputs, axes, o.data_format);
  if (kernel.defined() && kernel.shape().rank() == axes + 2)
    need_size(layer, inputs, channels, kernel.shape()[axes],
              "the layer was built for so many channels, each with its own kernel");
  std::vector<int64_t> window = o.kernel_size.sizes;
  for (size_t i = 0; i < window.size(); ++i)
    window[i] = (window[i] - 1) * o.dilation_rate.sizes[i] + 1;
  if (o.padding == "valid") need_room(layer, inputs, window, o.data_format, "the kernel");
  return channels;
}

// A line is an image of one row.
template <class O>
Tensor each_channel(const Tensor& x, const Tensor& kernel, int axes, const O& o) {
  std::string padding = o.padding == "same" ? "SAME" : "VALID",
              format = op_format(2, o.data_format);
  std::vector<int64_t> strides = o.strides.sizes, dilations = o.dilation_rate.sizes;
  if (axes == 2)
    return nn::depthwise_conv2d(x, kernel, strides, padding,
                                {.data_format = format, .dilations = dilations});
  int row = first_axis(o.data_format);
  strides.push_back(strides[0]);
  dilations.insert(dilations.begin(), 1);
  Tensor y = nn::depthwise_conv2d(expand_dims(x, row), expand_dims(kernel, 0), strides, padding,
                                  {.data_format = format, .dilations = dilations});
  return squeeze(y, {.axis = {row}});
}

}  // namespace

const ClassDef& DepthwiseConv1DLayer::definition() const { return depthwise1d; }
const ClassDef& DepthwiseConv2DLayer::definition() const { return depthwise2d; }
const ClassDef& SeparableConv1DLayer::definition() const { return separable1d; }
const ClassDef& SeparableConv2DLayer::definition() const { return separable2d; }

DepthwiseConvLayer::DepthwiseConvLayer(int axes) : axes_(axes) {
  options_.strides.sizes.assign(static_cast<size_t>(axes), 1);
  options_.dilation_rate = options_.strides;
}

void DepthwiseConvLayer::check() { settle(options_, axes_, definition().name); }

std::optional<InputSpec> DepthwiseConvLayer::input_spec() const {
  return field_spec(axes_, options_.data_format, kernel, axes_);
}

void DepthwiseConvLayer::build(const Shape& inputs) {
  const DepthwiseConvOptions& o = options_;
  int64_t channels = known_size(*this, inputs, need_inputs(*this, inputs, axes_, o, kernel),
                                "each channel has a kernel of its own");
  std::vector<int64_t> dims = o.kernel_size.sizes;
  dims.insert(dims.end(), {channels, o.depth_multiplier});
  kernel = add_weight({.name = "kernel",
                       .shape = dims,
                       .initializer = o.depthwise_initializer,
                       .regularizer = o.depthwise_regularizer,
                       .constraint = o.depthwise_constraint});
  if (o.use_bias)
    bias = add_weight({.name = "bias",
                       .shape = {channels * o.depth_multiplier},
                       .initializer = o.bias_initializer,
                       .regularizer = o.bias_regularizer,
                       .constraint = o.bias_constraint});
}

Tensor DepthwiseConvLayer::call(const Tensor& inputs, const CallOptions&) {
  const DepthwiseConvOptions& o = options_;
  need_built(*this, kernel, "kernel");
  need_inputs(*this, inputs.shape(), axes_, o, kernel);
  Tensor y = each_channel(as_input(inputs), read(kernel), axes_, o);
  if (bias.defined()) y = y + by_channel(read(bias), axes_, o.data_format);
  return o.activation ? (*o.activation)(y) : y;
}

SeparableConvLayer::SeparableConvLayer(int axes) : axes_(axes) {
  options_.strides.sizes.assign(static_cast<size_t>(axes), 1);
  options_.dilation_rate = options_.strides;
}

void SeparableConvLayer::check() {
  need_at_least(options_.filters, 1, "filters", definition().name);
  settle(options_, axes_, definition().name);
}

std::optional<InputSpec> SeparableConvLayer::input_spec() const {
  return field_spec(axes_, options_.data_format, depthwise_kernel, axes_);
}

void SeparableConvLayer::build(const Shape& inputs) {
  const SeparableConvOptions& o = options_;
  int axis = need_inputs(*this, inputs, axes_, o, depthwise_kernel);
  int64_t channels = known_size(*this, inputs, axis, "each channel has a kernel of its own");
  std::vector<int64_t> each = o.kernel_size.sizes, points(static_cast<size_t>(axes_), 1);
  each.insert(each.end(), {channels, o.depth_multiplier});
  points.insert(points.end(), {channels * o.depth_multiplier, o.filters});
  depthwise_kernel = add_weight({.name = "depthwise_kernel",
                                 .shape = each,
                                 .initializer = o.depthwise_initializer,
                                 .regularizer = o.depthwise_regularizer,
                                 .constraint = o.depthwise_constraint});
  pointwise_kernel = add_weight({.name = "pointwise_kernel",
                                 .shape = points,
                                 .initializer = o.pointwise_initializer,
                                 .regularizer = o.pointwise_regularizer,
                                 .constraint = o.pointwise_constraint});
  if (o.use_bias)
    bias = add_weight({.name = "bias",
                       .shape = {o.filters},
                       .initializer = o.bias_initializer,
                       .regularizer = o.bias_regularizer,
                       .constraint = o.bias_constraint});
}

Tensor SeparableConvLayer::call(const Tensor& inputs, const CallOptions&) {
  const SeparableConvOptions& o = options_;
  need_built(*this, depthwise_kernel, "depthwise_kernel");
  need_inputs(*this, inputs.shape(), axes_, o, depthwise_kernel);
  Tensor y = each_channel(as_input(inputs), read(depthwise_kernel), axes_, o);
  y = nn::convolution(y, read(pointwise_kernel),
                      {.padding = "VALID", .data_format = op_format(axes_, o.data_format)});
  if (bias.defined()) y = y + by_channel(read(bias), axes_, o.data_format);
  return o.activation ? (*o.activation)(y) : y;
}

}  // namespace holdfast::keras::layers
