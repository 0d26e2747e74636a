// EinsumDense: a product with a kernel along axes that an equation names.
#pragma once

#include "holdfast/keras/handle.h"

namespace holdfast::keras::layers {

struct EinsumDenseOptions {
  std::string equation = {};              // "ab,bc->ac", "...x,xy->...y"
  Shape output_shape = Shape::unknown();  // without the batch; -1: as the inputs have it
  ActivationOption activation = {};
  std::optional<std::string> bias_axes = {};  // letters of the output that have a bias
  InitializerOption kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  RegularizerOption kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  ConstraintOption kernel_constraint = {}, bias_constraint = {};
  Config quantization_config = {};  // must be null
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API EinsumDenseLayer : public Declares<EinsumDenseOptions> {
 public:
  const ClassDef& definition() const override;
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override;

  HeldWeight kernel{*this}, bias{*this};  // `bias` is empty without `bias_axes`

 private:
  void check() override;
};

/// `activation(einsum(equation, inputs, kernel) + bias)`.
using EinsumDense = Handle<EinsumDenseLayer>;

}  // namespace holdfast::keras::layers
