// The raw ops behind the public functions, for those and for gradients.
#pragma once

#include "holdfast/op/op.h"

namespace holdfast::nn {

/// A convolution and the two gradients it has; all three share their attributes.
struct ConvOps {
  const Op *forward, *input, *filter;
};
extern const ConvOps kConv2D, kConv3D, kDepthwise;

/// Shape rules and gradients, the same for all families.
void infer_conv(Infer&, bool depthwise);
void infer_conv_input(Infer&, bool depthwise);
void infer_conv_filter(Infer&, bool depthwise);
Tensors grad_conv(Grad&, const ConvOps&);
Tensors grad_conv_input(Grad&, const ConvOps&);
Tensors grad_conv_filter(Grad&, const ConvOps&);

/// The shape of `t` as the integer tensor that gradient ops take.
Tensor sizes_of(const Tensor& t);

}  // namespace holdfast::nn
