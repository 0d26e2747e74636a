// Dense: a product with a matrix, a bias, an activation.
#pragma once

#include "holdfast/keras/handle.h"

namespace holdfast::keras::layers {

struct DenseOptions {
  int64_t units = 0;
  ActivationOption activation = {};
  bool use_bias = true;
  InitializerOption kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  RegularizerOption kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  ConstraintOption kernel_constraint = {}, bias_constraint = {};
  Config quantization_config = {};  // must be null
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

/// What a Dense is; a program that wants its own `call` derives from it.
class HOLDFAST_API DenseLayer : public Declares<DenseOptions> {
 public:
  DenseLayer() = default;
  explicit DenseLayer(const DenseOptions& o);
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override;

  HeldWeight kernel{*this}, bias{*this};  // `bias` is empty if there is none

 private:
  void check() override;
  void need_inputs(const Shape& inputs) const;
};

/// `activation(inputs x kernel + bias)`, over the last axis.
using Dense = Handle<DenseLayer>;

}  // namespace holdfast::keras::layers
