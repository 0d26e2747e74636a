// Dense: a product with a matrix, a bias, an activation.
#pragma once

#include "holdfast/keras/handle.h"

namespace holdfast::keras::layers {

struct DenseOptions {
  int64_t units = 0;
  ActivationOption activation = {};
  bool use_bias = true;
  InitializerOption kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Ref<Constraint> kernel_constraint = {}, bias_constraint = {};
  std::string name = {};
  bool trainable = true;
  DType dtype = float32;
};

/// What a Dense is; a program that wants its own `call` derives from it.
class HOLDFAST_API DenseLayer : public Layer {
 public:
  using Options = DenseOptions;
  static const ObjectClass kClass;

  DenseLayer() = default;
  explicit DenseLayer(const DenseOptions& o) { configure(o); }
  /// Sets all options, before it is built.
  void configure(const DenseOptions&);
  static Ref<DenseLayer> from_config(const ConfigDict&);

  const ObjectClass& object_class() const override { return kClass; }
  void visit(Visitor&) const override;
  void clear() override;
  std::string class_name() const override { return "Dense"; }
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  ConfigDict get_config() const override;

  const DenseOptions& options() const { return options_; }
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }  // empty if there is none
  /// For who makes them otherwise in a `build` of their own.
  void set_kernel(Variable v);
  void set_bias(Variable v);

 private:
  void need_inputs(const Shape& inputs) const;

  DenseOptions options_;
  Variable kernel_, bias_;
  int64_t inputs_ = -1;  // how many it was built for
};

/// `activation(inputs x kernel + bias)`, over the last axis.
using Dense = Handle<DenseLayer>;

}  // namespace holdfast::keras::layers
