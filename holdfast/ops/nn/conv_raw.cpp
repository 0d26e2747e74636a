#include "holdfast/ops/nn/conv_raw.h"

#include "holdfast/ops/nn/conv_shape.h"

namespace holdfast::nn {
namespace {

constexpr DTypes kConvTypes = kFloats | DTypes{int32};

// The attributes in the order of WindowAttr.
Builder& window_attrs(Builder& b, const char* format, Ints ones, bool paddings) {
  b.attr("strides").attr("padding").attr("data_format", format).attr("dilations", std::move(ones));
  return paddings ? b.attr("explicit_paddings", Ints()) : b;
}
Builder& attrs2d(Builder& b) { return window_attrs(b, "NHWC", {1, 1, 1, 1}, true); }
Builder& attrs3d(Builder& b) { return window_attrs(b, "NDHWC", {1, 1, 1, 1, 1}, false); }

template <bool Depthwise, const ConvOps& Family>
Builder& forward(Builder& b) {
  b.infer(+[](Infer& s) { infer_conv(s, Depthwise); });
  return conv_kernels<Pass::kForward, Depthwise>(b)
      .gradient(+[](Grad& g) -> Tensors { return grad_conv(g, Family); })
      .keeps("input, filter");
}
template <bool Depthwise, const ConvOps& Family>
Builder& input(Builder& b) {
  b.infer(+[](Infer& s) { infer_conv_input(s, Depthwise); });
  return conv_kernels<Pass::kInput, Depthwise>(b)
      .gradient(+[](Grad& g) -> Tensors { return grad_conv_input(g, Family); })
      .keeps("filter, out_backprop");
}
template <bool Depthwise, const ConvOps& Family>
Builder& filter(Builder& b) {
  b.infer(+[](Infer& s) { infer_conv_filter(s, Depthwise); });
  return conv_kernels<Pass::kFilter, Depthwise>(b)
      .gradient(+[](Grad& g) -> Tensors { return grad_conv_filter(g, Family); })
      .keeps("input, out_backprop");
}

}  // namespace

static const Op conv2d_op = forward<false, kConv2D>(
    attrs2d(
        RAW_OP(Conv2D).inputs("input, filter").dtypes(kConvTypes).doc("Convolution over two axes."))
        .attr("use_cudnn_on_gpu", true));
static const Op conv2d_input_op =
    input<false, kConv2D>(attrs2d(RAW_OP(Conv2DBackpropInput)
                                      .inputs("input_sizes: Tidx!, filter, out_backprop")
                                      .dtypes(kConvTypes)
                                      .doc("Gradient of Conv2D with respect to its input."))
                              .attr("use_cudnn_on_gpu", true));
static const Op conv2d_filter_op =
    filter<false, kConv2D>(attrs2d(RAW_OP(Conv2DBackpropFilter)
                                       .inputs("input, filter_sizes: Tidx!, out_backprop")
                                       .dtypes(kFloats)
                                       .doc("Gradient of Conv2D with respect to its filter."))
                               .attr("use_cudnn_on_gpu", true));

static const Op conv3d_op = forward<false, kConv3D>(attrs3d(
    RAW_OP(Conv3D).inputs("input, filter").dtypes(kFloats).doc("Convolution over three axes.")));
static const Op conv3d_input_op =
    input<false, kConv3D>(attrs3d(RAW_OP(Conv3DBackpropInputV2)
                                      .inputs("input_sizes: Tshape!, filter, out_backprop")
                                      .dtypes(kFloats)
                                      .doc("Gradient of Conv3D with respect to its input.")));
static const Op conv3d_filter_op =
    filter<false, kConv3D>(attrs3d(RAW_OP(Conv3DBackpropFilterV2)
                                       .inputs("input, filter_sizes: Tshape!, out_backprop")
                                       .dtypes(kFloats)
                                       .doc("Gradient of Conv3D with respect to its filter.")));

static const Op depthwise_op =
    forward<true, kDepthwise>(attrs2d(RAW_OP(DepthwiseConv2dNative)
                                          .inputs("input, filter")
                                          .dtypes(kFloats)
                                          .doc("Each channel convolved with its own filters.")));
static const Op depthwise_input_op = input<true, kDepthwise>(
    attrs2d(RAW_OP(DepthwiseConv2dNativeBackpropInput)
                .inputs("input_sizes: Tidx!, filter, out_backprop")
                .dtypes(kFloats)
                .doc("Gradient of DepthwiseConv2dNative with respect to its input.")));
static const Op depthwise_filter_op = filter<true, kDepthwise>(
    attrs2d(RAW_OP(DepthwiseConv2dNativeBackpropFilter)
                .inputs("input, filter_sizes: Tidx!, out_backprop")
                .dtypes(kFloats)
                .doc("Gradient of DepthwiseConv2dNative with respect to its filter.")));

const ConvOps kConv2D{&conv2d_op, &conv2d_input_op, &conv2d_filter_op};
const ConvOps kConv3D{&conv3d_op, &conv3d_input_op, &conv3d_filter_op};
const ConvOps kDepthwise{&depthwise_op, &depthwise_input_op, &depthwise_filter_op};

}  // namespace holdfast::nn
