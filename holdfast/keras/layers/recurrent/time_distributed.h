// TimeDistributed: a layer for each step of sequences.
#pragma once

#include "holdfast/keras/model.h"

namespace holdfast::keras::layers {

struct TimeDistributedOptions {
  LayerOption layer = {};
  RegularizerOption activity_regularizer = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API TimeDistributedLayer : public Declares<TimeDistributedOptions> {
 public:
  TimeDistributedLayer() = default;
  explicit TimeDistributedLayer(const TimeDistributedOptions& o);
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;

 private:
  void check() override;
  Shape step_shape(const Shape& inputs) const;
};

/// `TimeDistributed({.layer = Dense({.units = 8})})`.
using TimeDistributed = Handle<TimeDistributedLayer>;

}  // namespace holdfast::keras::layers
