// Activations as layers.
#pragma once

#include "holdfast/keras/built_at_once.h"
#include "holdfast/keras/handle.h"

namespace holdfast::keras::layers {

struct ActivationLayerOptions {
  ActivationOption activation = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct ReLUOptions {
  std::optional<double> max_value = {};
  double negative_slope = 0, threshold = 0;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct LeakyReLUOptions {
  double negative_slope = 0.3;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct PReLUOptions {
  InitializerOption alpha_initializer = "zeros";
  RegularizerOption alpha_regularizer = {};
  ConstraintOption alpha_constraint = {};
  std::optional<Sides> shared_axes = {};  // along which one slope serves all; 1 is behind the batch
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct ELUOptions {
  double alpha = 1;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct SoftmaxOptions {
  Sides axis = -1;  // one, or several
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API ActivationLayer : public Declares<ActivationLayerOptions>, public BuiltAtOnce {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  Tensor call(const Tensor& inputs, const CallOptions&) override;
};
class HOLDFAST_API ReLULayer : public Declares<ReLUOptions>, public BuiltAtOnce {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  Tensor call(const Tensor& inputs, const CallOptions&) override;

 private:
  void check() override;
};
class HOLDFAST_API LeakyReLULayer : public Declares<LeakyReLUOptions>, public BuiltAtOnce {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  Tensor call(const Tensor& inputs, const CallOptions&) override;

 private:
  void check() override;
};
class HOLDFAST_API PReLULayer : public Declares<PReLUOptions> {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override;

  HeldWeight alpha{*this};

 private:
  void check() override;
};
class HOLDFAST_API ELULayer : public Declares<ELUOptions>, public BuiltAtOnce {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  Tensor call(const Tensor& inputs, const CallOptions&) override;
};
class HOLDFAST_API SoftmaxLayer : public Declares<SoftmaxOptions>, public BuiltAtOnce {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  Tensor call(const Tensor& inputs, const CallOptions&) override;
};

/// An activation by name, or a function: `Activation({.activation = "relu"})`. Its class is named
/// like the functions that it holds, which are in the namespace around.
using Activation = Handle<ActivationLayer>;
/// The larger of inputs and zero, with a slope below `threshold` and a limit above.
using ReLU = Handle<ReLULayer>;
/// Inputs, times a slope where they are below zero.
using LeakyReLU = Handle<LeakyReLULayer>;
/// The same with slopes that are trained.
using PReLU = Handle<PReLULayer>;
/// Inputs, and `alpha * (exp(inputs) - 1)` where they are below zero.
using ELU = Handle<ELULayer>;
/// Probabilities from logits; what a mask leaves out has none.
using Softmax = Handle<SoftmaxLayer>;

}  // namespace holdfast::keras::layers
