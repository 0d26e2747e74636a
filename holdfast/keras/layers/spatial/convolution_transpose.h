// Transposed convolutions: what goes back through a convolution, as a layer.
#pragma once

#include "holdfast/keras/handle.h"
#include "holdfast/keras/layers/spatial/spatial.h"

namespace holdfast::keras::layers {

struct ConvTransposeOptions {
  NamedOnly named_only = NamedOnly();
  int64_t filters = 0;
  Sides kernel_size = {};
  Sides strides = 1;
  std::string padding = "valid";  // or "same"
  std::optional<Sides> output_padding = {};
  DataFormat data_format = {};
  Sides dilation_rate = 1;
  ActivationOption activation = {};
  bool use_bias = true;
  InitializerOption kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  RegularizerOption kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  ConstraintOption kernel_constraint = {}, bias_constraint = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

/// What those over one, two and three axes share.
class HOLDFAST_API ConvTransposeLayer : public Declares<ConvTransposeOptions> {
 public:
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override;

  HeldWeight kernel{*this}, bias{*this};  // [sizes..., filters, channels]

 protected:
  explicit ConvTransposeLayer(int axes);
  void check() override;

 private:
  int need_inputs(const Shape& inputs) const;
  /// How long an axis becomes: of length `n`, a number or a tensor.
  template <class N>
  N grown(const N& n, size_t axis) const;
  const int axes_;
};

class HOLDFAST_API Conv1DTransposeLayer : public ConvTransposeLayer {
 public:
  Conv1DTransposeLayer() : ConvTransposeLayer(1) {}
  const ClassDef& definition() const override;
};
class HOLDFAST_API Conv2DTransposeLayer : public ConvTransposeLayer {
 public:
  Conv2DTransposeLayer() : ConvTransposeLayer(2) {}
  const ClassDef& definition() const override;
};
class HOLDFAST_API Conv3DTransposeLayer : public ConvTransposeLayer {
 public:
  Conv3DTransposeLayer() : ConvTransposeLayer(3) {}
  const ClassDef& definition() const override;
};

using Conv1DTranspose = Handle<Conv1DTransposeLayer>;
/// The reverse of a convolution's shapes: strides make images larger.
using Conv2DTranspose = Handle<Conv2DTransposeLayer>;
using Conv3DTranspose = Handle<Conv3DTransposeLayer>;

}  // namespace holdfast::keras::layers
