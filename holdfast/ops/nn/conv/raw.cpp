#include "holdfast/ops/nn/conv/raw.h"

#include <algorithm>

#include "holdfast/ops/nn/conv/shape.h"

namespace holdfast::nn {
namespace {

constexpr DTypes kConvTypes = kFloats | DTypes{int32};

Builder& window_attrs(Builder& b, const char* format, Ints ones) {
  return b.attr("strides")
      .attr("padding")
      .attr("data_format", format)
      .attr("dilations", std::move(ones));
}
Builder& attrs2d(Builder& b) {
  using A = PaddedConvAttrs;
  return window_attrs(b, "NHWC", {1, 1, 1, 1})
      .attr("explicit_paddings", Ints())
      .attrs<&A::strides, &A::padding, &A::data_format, &A::dilations, &A::explicit_paddings>();
}
Builder& attrs3d(Builder& b) {
  return window_attrs(b, "NDHWC", {1, 1, 1, 1, 1})
      .attrs<&ConvAttrs::strides, &ConvAttrs::padding, &ConvAttrs::data_format,
             &ConvAttrs::dilations>();
}

// Operations for all elements that a filter gives, or takes part in.
template <bool Depthwise>
double taps(const Shape& results, const Shape& filter) {
  int64_t outputs = filter[-1] * (Depthwise ? filter[-2] : 1);
  return 2.0 * static_cast<double>(results.size()) * static_cast<double>(filter.size()) /
         static_cast<double>(std::max<int64_t>(1, outputs));
}

template <bool Depthwise, const ConvOps& Family>
Builder& forward(Builder& b) {
  b.infer(+[](Infer& s) { infer_conv(s, Depthwise); });
  b.images({.inputs = 0b1, .gives = true, .begins = true});
  b.flops(+[](std::span<const Shape> in, const Shape& out) { return taps<Depthwise>(out, in[1]); });
  return conv_kernels<Pass::kForward, Depthwise>(b)
      .gradient(+[](Grad& g) -> Tensors { return grad_conv(g, Family); })
      .keeps("input, filter");
}
template <bool Depthwise, const ConvOps& Family>
Builder& input(Builder& b) {
  b.infer(+[](Infer& s) { infer_conv_input(s, Depthwise); });
  b.images({.inputs = 0b100, .sizes = 0b1, .gives = true, .begins = true});
  b.flops(+[](std::span<const Shape> in, const Shape&) { return taps<Depthwise>(in[2], in[1]); });
  return conv_kernels<Pass::kInput, Depthwise>(b)
      .gradient(+[](Grad& g) -> Tensors { return grad_conv_input(g, Family); })
      .keeps("filter, out_backprop");
}
template <bool Depthwise, const ConvOps& Family>
Builder& filter(Builder& b) {
  b.infer(+[](Infer& s) { infer_conv_filter(s, Depthwise); });
  b.images({.inputs = 0b101, .begins = true});
  b.flops(+[](std::span<const Shape> in, const Shape& out) { return taps<Depthwise>(in[2], out); });
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
