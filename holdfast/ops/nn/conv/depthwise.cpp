// Convolutions that keep channels apart.
#include "holdfast/base/text.h"
#include "holdfast/ops/conv.h"
#include "holdfast/ops/nn/conv/call.h"
#include "holdfast/ops/nn/conv/raw.h"
#include "holdfast/ops/nn/numpy_reference.h"

namespace holdfast::nn {
namespace {

Attrs attrs(const char* function, bool first, const Sizes& strides, const Padding& padding,
            const Axes& dilations) {
  return conv_attrs(function, 2, first, per_axis(function, "strides", strides, 2, first), padding,
                    per_axis(function, "dilations", dilations, 2, first));
}

}  // namespace

REGISTER(
    FUNCTION(&depthwise_conv2d)
        .args("input, filter, strides, padding")
        .options<&DepthwiseOptions::data_format, &DepthwiseOptions::dilations>(
            "data_format, dilations")
        .python("nn.depthwise_conv2d")
        .doc("Each channel convolved with its own filters [height, width, channels, multiplier].")
        .samples("uniform(2, 5, 6, 3), uniform(3, 3, 3, 2), [1, 1, 1, 1], 'SAME'",
                 "uniform(2, 5, 6, 3), uniform(2, 3, 3, 1), [1, 2, 2, 1], 'VALID'",
                 "uniform(2, 3, 5, 6), uniform(3, 3, 3, 2), [1, 1, 1, 1], 'SAME', 'NCHW', [2, 2]")
        .reference(numpy_depthwise("filter").c_str()));
Tensor depthwise_conv2d(const In& input, const In& filter, const Sizes& strides,
                        const Padding& padding, const DepthwiseOptions& o) {
  bool first = is_channels_first("depthwise_conv2d", o.data_format, 2);
  return (*kDepthwise.forward)({input, filter},
                               attrs("depthwise_conv2d", first, strides, padding, o.dilations));
}

REGISTER(
    FUNCTION(&separable_conv2d)
        .args("input, depthwise_filter, pointwise_filter, strides, padding")
        .options<&DepthwiseOptions::data_format, &DepthwiseOptions::dilations>(
            "data_format, dilations")
        .python("nn.separable_conv2d")
        .doc("depthwise_conv2d, then a 1x1 convolution that mixes the channels.")
        .samples(
            "uniform(1, 5, 6, 2), uniform(3, 3, 2, 2), uniform(1, 1, 4, 3), [1, 1, 1, 1], 'SAME'")
        .reference(cat(numpy_depthwise("depthwise_filter"), " @ pointwise_filter[0, 0]").c_str()));
Tensor separable_conv2d(const In& input, const In& depthwise_filter, const In& pointwise_filter,
                        const Sizes& strides, const Padding& padding, const DepthwiseOptions& o) {
  Tensor point = pointwise_filter;
  need_rank("separable_conv2d", "pointwise_filter", point, 4, 4);
  if (point.shape().has_rank() && !point.shape().merged(Shape{1, 1, kUnknown, kUnknown}))
    fail(Code::E1102, cat("separable_conv2d: `pointwise_filter` has shape ", point.shape().text(),
                          ", expected [1, 1, channels, out]"));
  Tensor apart = depthwise_conv2d(input, depthwise_filter, strides, padding, o);
  return conv2d(apart, point, 1, "VALID", {.data_format = o.data_format.value_or("NHWC")});
}

REGISTER(
    FUNCTION(&depthwise_conv2d_backprop_input)
        .args("input_sizes, filter, out_backprop, strides, padding")
        .options<&DepthwiseBackpropOptions::data_format, &DepthwiseBackpropOptions::dilations>(
            "data_format, dilations")
        .python("nn.depthwise_conv2d_backprop_input")
        .doc("Gradient of depthwise_conv2d with respect to its input.")
        .samples("[1, 5, 6, 2], uniform(3, 3, 2, 2), uniform(1, 5, 6, 4), [1, 1, 1, 1], 'SAME'"));
Tensor depthwise_conv2d_backprop_input(const Sizes& input_sizes, const In& filter,
                                       const In& out_backprop, const Sizes& strides,
                                       const Padding& padding, const DepthwiseBackpropOptions& o) {
  const char* name = "depthwise_conv2d_backprop_input";
  return (*kDepthwise.input)(
      {input_sizes.tensor(), filter, out_backprop},
      attrs(name, is_channels_first(name, o.data_format, 2), strides, padding, o.dilations));
}

REGISTER(
    FUNCTION(&depthwise_conv2d_backprop_filter)
        .args("input, filter_sizes, out_backprop, strides, padding")
        .options<&DepthwiseBackpropOptions::data_format, &DepthwiseBackpropOptions::dilations>(
            "data_format, dilations")
        .python("nn.depthwise_conv2d_backprop_filter")
        .doc("Gradient of depthwise_conv2d with respect to its filter.")
        .samples("uniform(1, 5, 6, 2), [3, 3, 2, 2], uniform(1, 5, 6, 4), [1, 1, 1, 1], 'SAME'"));
Tensor depthwise_conv2d_backprop_filter(const In& input, const Sizes& filter_sizes,
                                        const In& out_backprop, const Sizes& strides,
                                        const Padding& padding, const DepthwiseBackpropOptions& o) {
  const char* name = "depthwise_conv2d_backprop_filter";
  return (*kDepthwise.filter)(
      {input, filter_sizes.tensor(), out_backprop},
      attrs(name, is_channels_first(name, o.data_format, 2), strides, padding, o.dilations));
}

}  // namespace holdfast::nn
