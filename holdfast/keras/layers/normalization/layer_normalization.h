// Normalisations of each example by itself: over axes, over groups of channels, to length 1.
#pragma once

#include "holdfast/keras/built_at_once.h"
#include "holdfast/keras/handle.h"
#include "holdfast/keras/keeps_inputs.h"

namespace holdfast::keras::layers {

struct LayerNormalizationOptions {
  Sides axis = -1;  // one, or several
  double epsilon = 1e-3;
  bool center = true, scale = true;
  InitializerOption beta_initializer = "zeros", gamma_initializer = "ones";
  RegularizerOption beta_regularizer = {}, gamma_regularizer = {};
  ConstraintOption beta_constraint = {}, gamma_constraint = {};
  bool rms_scaling = false;  // in files of Keras; true is refused
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API LayerNormalizationLayer : public Declares<LayerNormalizationOptions>,
                                             public KeepsInputs {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;

  HeldWeight gamma{*this}, beta{*this};  // empty without `scale`, without `center`

 private:
  void check() override;
};

struct GroupNormalizationOptions {
  int64_t groups = 32;  // -1: each channel is one
  int64_t axis = -1;
  double epsilon = 1e-3;
  bool center = true, scale = true;
  InitializerOption beta_initializer = "zeros", gamma_initializer = "ones";
  RegularizerOption beta_regularizer = {}, gamma_regularizer = {};
  ConstraintOption beta_constraint = {}, gamma_constraint = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API GroupNormalizationLayer : public Declares<GroupNormalizationOptions>,
                                             public KeepsInputs {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override;

  HeldWeight gamma{*this}, beta{*this};

 private:
  void check() override;
};

struct RMSNormalizationOptions {
  Sides axis = -1;
  double epsilon = 1e-6;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API RMSNormalizationLayer : public Declares<RMSNormalizationOptions> {
 public:
  const ClassDef& definition() const override;
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;

  HeldWeight scale{*this};
};

struct UnitNormalizationOptions {
  Sides axis = -1;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API UnitNormalizationLayer : public Declares<UnitNormalizationOptions>,
                                            public BuiltAtOnce {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  Tensor call(const Tensor& inputs, const CallOptions&) override;
};

/// Each example brought to mean 0 and variance 1 over `axis`, times `gamma`, plus `beta`.
using LayerNormalization = Handle<LayerNormalizationLayer>;
/// The same over groups of channels and all that is not the batch.
using GroupNormalization = Handle<GroupNormalizationLayer>;
/// Each example over its root mean square along `axis`, times `scale`.
using RMSNormalization = Handle<RMSNormalizationLayer>;
/// Each example over its length along `axis`.
using UnitNormalization = Handle<UnitNormalizationLayer>;

}  // namespace holdfast::keras::layers
