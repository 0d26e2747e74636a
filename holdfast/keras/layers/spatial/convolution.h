// Convolutions over lines, images and volumes.
#pragma once

#include "holdfast/keras/handle.h"
#include "holdfast/keras/layers/spatial/spatial.h"

namespace holdfast::keras::layers {

struct ConvOptions {
  NamedOnly named_only = NamedOnly();
  int64_t filters = 0;
  Sides kernel_size = {};
  Sides strides = 1;
  std::string padding = "valid";  // or "same"; over lines also "causal"
  DataFormat data_format = {};
  Sides dilation_rate = 1;
  int64_t groups = 1;
  ActivationOption activation = {};
  bool use_bias = true;
  InitializerOption kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  RegularizerOption kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  ConstraintOption kernel_constraint = {}, bias_constraint = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

/// What convolutions over one, two and three axes share.
class HOLDFAST_API ConvLayer : public Declares<ConvOptions> {
 public:
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override;

  // [sizes..., channels / groups, filters]; `bias` is empty if there is none
  HeldWeight kernel{*this}, bias{*this};

 protected:
  explicit ConvLayer(int axes);
  void check() override;

 private:
  void need_inputs(const Shape& inputs) const;
  std::vector<int64_t> window() const;  // the kernel's sizes with what dilation adds
  const int axes_;
};

class HOLDFAST_API Conv1DLayer : public ConvLayer {
 public:
  Conv1DLayer() : ConvLayer(1) {}
  const ClassDef& definition() const override;
};
class HOLDFAST_API Conv2DLayer : public ConvLayer {
 public:
  Conv2DLayer() : ConvLayer(2) {}
  const ClassDef& definition() const override;
};
class HOLDFAST_API Conv3DLayer : public ConvLayer {
 public:
  Conv3DLayer() : ConvLayer(3) {}
  const ClassDef& definition() const override;
};

using Conv1D = Handle<Conv1DLayer>;
/// `activation(convolution(inputs, kernel) + bias)`: `Conv2D({.filters = 32, .kernel_size = 3})`.
using Conv2D = Handle<Conv2DLayer>;
using Conv3D = Handle<Conv3DLayer>;

}  // namespace holdfast::keras::layers
