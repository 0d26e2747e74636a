// The gradients of convolutions as functions of their own, as TensorFlow 1 has them.
#include "holdfast/ops/conv.h"
#include "holdfast/ops/nn/conv/call.h"
#include "holdfast/ops/nn/conv/raw.h"

namespace holdfast::nn {
namespace {

Attrs attrs_of(const char* function, int axes, const Sizes& strides, const Padding& padding,
               const std::string& data_format, const Sizes& dilations) {
  bool first = is_channels_first(function, data_format, axes);
  return conv_attrs(function, axes, first, per_axis(function, "strides", strides, axes, first),
                    padding, per_axis(function, "dilations", dilations, axes, first));
}

}  // namespace

REGISTER(
    FUNCTION(&conv2d_backprop_input)
        .args("input_sizes, filter, out_backprop, strides, padding")
        .options<&Conv2DBackpropOptions::data_format, &Conv2DBackpropOptions::dilations>(
            "data_format, dilations")
        .python("compat.v1.nn.conv2d_backprop_input")
        .doc("Gradient of conv2d with respect to its input.")
        .samples("[1, 5, 6, 2], uniform(3, 3, 2, 4), uniform(1, 5, 6, 4), [1, 1, 1, 1], 'SAME'",
                 "[1, 5, 6, 2], uniform(3, 2, 2, 3), uniform(1, 2, 3, 3), [1, 2, 2, 1], 'VALID'"));
Tensor conv2d_backprop_input(const Sizes& input_sizes, const In& filter, const In& out_backprop,
                             const Sizes& strides, const Padding& padding,
                             const Conv2DBackpropOptions& o) {
  return (*kConv2D.input)(
      {input_sizes.tensor(), filter, out_backprop},
      attrs_of("conv2d_backprop_input", 2, strides, padding, o.data_format, o.dilations));
}

REGISTER(
    FUNCTION(&conv2d_backprop_filter)
        .args("input, filter_sizes, out_backprop, strides, padding")
        .options<&Conv2DBackpropOptions::data_format, &Conv2DBackpropOptions::dilations>(
            "data_format, dilations")
        .python("compat.v1.nn.conv2d_backprop_filter")
        .doc("Gradient of conv2d with respect to its filter.")
        .samples("uniform(1, 5, 6, 2), [3, 3, 2, 4], uniform(1, 5, 6, 4), [1, 1, 1, 1], 'SAME'",
                 "uniform(1, 5, 6, 2), [3, 2, 2, 3], uniform(1, 2, 3, 3), [1, 2, 2, 1], 'VALID'"));
Tensor conv2d_backprop_filter(const In& input, const Sizes& filter_sizes, const In& out_backprop,
                              const Sizes& strides, const Padding& padding,
                              const Conv2DBackpropOptions& o) {
  return (*kConv2D.filter)(
      {input, filter_sizes.tensor(), out_backprop},
      attrs_of("conv2d_backprop_filter", 2, strides, padding, o.data_format, o.dilations));
}

REGISTER(FUNCTION(&conv3d_backprop_filter)
             .args("input, filter_sizes, out_backprop, strides, padding")
             .options<&Conv3DBackpropOptions::data_format, &Conv3DBackpropOptions::dilations>(
                 "data_format, dilations")
             .python("compat.v1.nn.conv3d_backprop_filter, compat.v1.nn.conv3d_backprop_filter_v2")
             .doc("Gradient of conv3d with respect to its filter.")
             .samples("uniform(1, 3, 4, 4, 2), [2, 2, 2, 2, 3], uniform(1, 3, 4, 4, 3), "
                      "[1, 1, 1, 1, 1], 'SAME'"));
Tensor conv3d_backprop_filter(const In& input, const Sizes& filter_sizes, const In& out_backprop,
                              const Sizes& strides, const Padding& padding,
                              const Conv3DBackpropOptions& o) {
  return (*kConv3D.filter)(
      {input, filter_sizes.tensor(), out_backprop},
      attrs_of("conv3d_backprop_filter", 3, strides, padding, o.data_format, o.dilations));
}

}  // namespace holdfast::nn
