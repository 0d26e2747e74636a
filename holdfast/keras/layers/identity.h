// Layers that give what they are given, or nearly so.
#pragma once

#include "holdfast/keras/built_at_once.h"
#include "holdfast/keras/handle.h"

namespace holdfast::keras::layers {

struct IdentityOptions {
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct MaskingOptions {
  double mask_value = 0;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct ActivityRegularizationOptions {
  double l1 = 0, l2 = 0;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};
struct RescalingOptions {
  Config scale = {};  // a number, or one for each channel
  Config offset = 0.0;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API IdentityLayer : public Declares<IdentityOptions>, public BuiltAtOnce {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  Nested call_all(const Nested& inputs, const CallOptions&) override { return inputs; }
};

class HOLDFAST_API MaskingLayer : public Declares<MaskingOptions>, public BuiltAtOnce {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;

 private:
  Tensor kept(const Tensor& inputs, bool keepdims) const;
};

class HOLDFAST_API ActivityRegularizationLayer : public Declares<ActivityRegularizationOptions>,
                                                 public BuiltAtOnce {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  Tensor call(const Tensor& inputs, const CallOptions&) override;
};

class HOLDFAST_API RescalingLayer : public Declares<RescalingOptions> {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  Tensor call(const Tensor& inputs, const CallOptions&) override;

 private:
  void check() override;
};

/// What it is given.
using Identity = Handle<IdentityLayer>;
/// Steps whose elements all are `mask_value` are left out by the layers that follow.
using Masking = Handle<MaskingLayer>;
/// What it is given, with a penalty on it that training makes small.
using ActivityRegularization = Handle<ActivityRegularizationLayer>;
/// `inputs * scale + offset`: `Rescaling({.scale = 1 / 255.})`.
using Rescaling = Handle<RescalingLayer>;

}  // namespace holdfast::keras::layers
