// SpectralNormalization: a layer whose kernel stretches nothing by more than 1.
#pragma once

#include "holdfast/keras/model.h"

namespace holdfast::keras::layers {

struct SpectralNormalizationOptions {
  LayerOption layer = {};
  int64_t power_iterations = 1;
  RegularizerOption activity_regularizer = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

/// While training, divides the layer's kernel by its largest singular value, which is followed by
/// power iteration from step to step.
class HOLDFAST_API SpectralNormalizationLayer : public Declares<SpectralNormalizationOptions> {
 public:
  SpectralNormalizationLayer() = default;
  explicit SpectralNormalizationLayer(const SpectralNormalizationOptions& o);
  const ClassDef& definition() const override;
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override;

  Variable kernel;  // of the layer inside
  HeldWeight vector_u{*this};

 private:
  void check() override;
};

/// `SpectralNormalization({.layer = Dense({.units = 8})})`.
using SpectralNormalization = Handle<SpectralNormalizationLayer>;

}  // namespace holdfast::keras::layers
