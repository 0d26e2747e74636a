// Convolutions, their transposes, and the bias that follows them.
//
// `strides` and `dilations` are one number, one per spatial axis, or one per axis of the input.
#pragma once

#include "holdfast/op/in.h"
#include "holdfast/ops/padding.h"

namespace holdfast::nn {

struct Conv1DOptions {
  std::string data_format = "NWC";
  Axes dilations = {};
};
struct Conv2DOptions {
  std::string data_format = "NHWC";
  Axes dilations = {};
};
struct Conv3DOptions {
  std::string data_format = "NDHWC";
  Axes dilations = {};
};
/// Convolution over one axis: input [..., width, channels], filters [width, channels, out].
HOLDFAST_API Tensor conv1d(const In& input, const In& filters, const Sizes& stride,
                           const Padding& padding, const Conv1DOptions& = {});
/// Convolution over two axes: input [..., height, width, channels], filters [height, width,
/// channels, out].
HOLDFAST_API Tensor conv2d(const In& input, const In& filters, const Sizes& strides,
                           const Padding& padding, const Conv2DOptions& = {});
/// Convolution over three axes.
HOLDFAST_API Tensor conv3d(const In& input, const In& filters, const Sizes& strides,
                           const Padding& padding, const Conv3DOptions& = {});

struct ConvolutionOptions {
  Axes strides = {};
  Padding padding = "VALID";
  std::optional<std::string> data_format = {};
  Axes dilations = {};
};
/// Convolution over one, two or three axes, as many as the filters have.
HOLDFAST_API Tensor convolution(const In& input, const In& filters, const ConvolutionOptions& = {});

struct ConvTransposeOptions1D {
  Padding padding = "SAME";
  std::string data_format = "NWC";
  Axes dilations = {};
};
struct ConvTransposeOptions2D {
  Padding padding = "SAME";
  std::string data_format = "NHWC";
  Axes dilations = {};
};
struct ConvTransposeOptions3D {
  Padding padding = "SAME";
  std::string data_format = "NDHWC";
  Axes dilations = {};
};
struct ConvTransposeOptions {
  Padding padding = "SAME";
  std::optional<std::string> data_format = {};
  Axes dilations = {};
};
/// What conv1d's gradient computes: filters [width, out, channels].
HOLDFAST_API Tensor conv1d_transpose(const In& input, const In& filters, const Sizes& output_shape,
                                     const Sizes& strides, const ConvTransposeOptions1D& = {});
/// What conv2d's gradient computes: filters [height, width, out, channels].
HOLDFAST_API Tensor conv2d_transpose(const In& input, const In& filters, const Sizes& output_shape,
                                     const Sizes& strides, const ConvTransposeOptions2D& = {});
/// What conv3d's gradient computes: filters [depth, height, width, out, channels].
HOLDFAST_API Tensor conv3d_transpose(const In& input, const In& filters, const Sizes& output_shape,
                                     const Sizes& strides, const ConvTransposeOptions3D& = {});
/// The transposed convolution over as many axes as the filters have.
HOLDFAST_API Tensor conv_transpose(const In& input, const In& filters, const Sizes& output_shape,
                                   const Sizes& strides, const ConvTransposeOptions& = {});

/// conv2d whose filter has `rate` - 1 holes between its rows and columns.
HOLDFAST_API Tensor atrous_conv2d(const In& value, const In& filters, int64_t rate,
                                  const Padding& padding);
/// The transposed convolution with such a filter.
HOLDFAST_API Tensor atrous_conv2d_transpose(const In& value, const In& filters,
                                            const Sizes& output_shape, int64_t rate,
                                            const Padding& padding);

struct DepthwiseOptions {
  std::optional<std::string> data_format = {};
  Axes dilations = {};
};
/// Each channel convolved with its own filters [height, width, channels, multiplier].
HOLDFAST_API Tensor depthwise_conv2d(const In& input, const In& filter, const Sizes& strides,
                                     const Padding& padding, const DepthwiseOptions& = {});
/// depthwise_conv2d, then a 1x1 convolution that mixes the channels.
HOLDFAST_API Tensor separable_conv2d(const In& input, const In& depthwise_filter,
                                     const In& pointwise_filter, const Sizes& strides,
                                     const Padding& padding, const DepthwiseOptions& = {});

struct DepthwiseBackpropOptions {
  std::string data_format = "NHWC";
  Sizes dilations = {1, 1, 1, 1};
};
/// Gradient of depthwise_conv2d with respect to its input.
HOLDFAST_API Tensor depthwise_conv2d_backprop_input(const Sizes& input_sizes, const In& filter,
                                                    const In& out_backprop, const Sizes& strides,
                                                    const Padding& padding,
                                                    const DepthwiseBackpropOptions& = {});
/// Gradient of depthwise_conv2d with respect to its filter.
HOLDFAST_API Tensor depthwise_conv2d_backprop_filter(const In& input, const Sizes& filter_sizes,
                                                     const In& out_backprop, const Sizes& strides,
                                                     const Padding& padding,
                                                     const DepthwiseBackpropOptions& = {});

struct Conv2DBackpropOptions {
  std::string data_format = "NHWC";
  Sizes dilations = {1, 1, 1, 1};
};
struct Conv3DBackpropOptions {
  std::string data_format = "NDHWC";
  Sizes dilations = {1, 1, 1, 1, 1};
};
/// Gradient of conv2d with respect to its input.
HOLDFAST_API Tensor conv2d_backprop_input(const Sizes& input_sizes, const In& filter,
                                          const In& out_backprop, const Sizes& strides,
                                          const Padding& padding,
                                          const Conv2DBackpropOptions& = {});
/// Gradient of conv2d with respect to its filter.
HOLDFAST_API Tensor conv2d_backprop_filter(const In& input, const Sizes& filter_sizes,
                                           const In& out_backprop, const Sizes& strides,
                                           const Padding& padding,
                                           const Conv2DBackpropOptions& = {});
/// Gradient of conv3d with respect to its filter.
HOLDFAST_API Tensor conv3d_backprop_filter(const In& input, const Sizes& filter_sizes,
                                           const In& out_backprop, const Sizes& strides,
                                           const Padding& padding,
                                           const Conv3DBackpropOptions& = {});

struct BiasAddOptions {
  std::optional<std::string> data_format = {};
};
/// `bias` added to every position of its channel; channels are the last axis, or the second
/// ("NC...").
HOLDFAST_API Tensor bias_add(const In& value, const In& bias, const BiasAddOptions& = {});

}  // namespace holdfast::nn
