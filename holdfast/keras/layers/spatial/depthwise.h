// Convolutions of each channel by itself, and those that mix the channels afterwards.
#pragma once

#include "holdfast/keras/handle.h"
#include "holdfast/keras/layers/spatial/spatial.h"

namespace holdfast::keras::layers {

struct DepthwiseConvOptions {
  NamedOnly named_only = NamedOnly();
  Sides kernel_size = {};
  Sides strides = 1;
  std::string padding = "valid";  // or "same"
  int64_t depth_multiplier = 1;   // how many results each channel has
  DataFormat data_format = {};
  Sides dilation_rate = 1;
  ActivationOption activation = {};
  bool use_bias = true;
  InitializerOption depthwise_initializer = "glorot_uniform", bias_initializer = "zeros";
  RegularizerOption depthwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  ConstraintOption depthwise_constraint = {}, bias_constraint = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API DepthwiseConvLayer : public Declares<DepthwiseConvOptions> {
 public:
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override;

  HeldWeight kernel{*this}, bias{*this};  // [sizes..., channels, depth_multiplier]

 protected:
  explicit DepthwiseConvLayer(int axes);
  void check() override;

 private:
  const int axes_;
};
class HOLDFAST_API DepthwiseConv1DLayer : public DepthwiseConvLayer {
 public:
  DepthwiseConv1DLayer() : DepthwiseConvLayer(1) {}
  const ClassDef& definition() const override;
};
class HOLDFAST_API DepthwiseConv2DLayer : public DepthwiseConvLayer {
 public:
  DepthwiseConv2DLayer() : DepthwiseConvLayer(2) {}
  const ClassDef& definition() const override;
};

struct SeparableConvOptions {
  NamedOnly named_only = NamedOnly();
  int64_t filters = 0;
  Sides kernel_size = {};
  Sides strides = 1;
  std::string padding = "valid";  // or "same"
  DataFormat data_format = {};
  Sides dilation_rate = 1;
  int64_t depth_multiplier = 1;
  ActivationOption activation = {};
  bool use_bias = true;
  InitializerOption depthwise_initializer = "glorot_uniform",
                    pointwise_initializer = "glorot_uniform", bias_initializer = "zeros";
  RegularizerOption depthwise_regularizer = {}, pointwise_regularizer = {}, bias_regularizer = {},
                    activity_regularizer = {};
  ConstraintOption depthwise_constraint = {}, pointwise_constraint = {}, bias_constraint = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API SeparableConvLayer : public Declares<SeparableConvOptions> {
 public:
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override;

  HeldWeight depthwise_kernel{*this}, pointwise_kernel{*this}, bias{*this};

 protected:
  explicit SeparableConvLayer(int axes);
  void check() override;

 private:
  const int axes_;
};
class HOLDFAST_API SeparableConv1DLayer : public SeparableConvLayer {
 public:
  SeparableConv1DLayer() : SeparableConvLayer(1) {}
  const ClassDef& definition() const override;
};
class HOLDFAST_API SeparableConv2DLayer : public SeparableConvLayer {
 public:
  SeparableConv2DLayer() : SeparableConvLayer(2) {}
  const ClassDef& definition() const override;
};

using DepthwiseConv1D = Handle<DepthwiseConv1DLayer>;
/// Each channel convolved with kernels of its own.
using DepthwiseConv2D = Handle<DepthwiseConv2DLayer>;
using SeparableConv1D = Handle<SeparableConv1DLayer>;
/// A depthwise convolution, then one of single points that mixes the channels.
using SeparableConv2D = Handle<SeparableConv2DLayer>;

}  // namespace holdfast::keras::layers
