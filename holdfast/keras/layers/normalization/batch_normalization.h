// BatchNormalization: each channel brought to mean 0 and variance 1, over the batch.
#pragma once

#include "holdfast/keras/handle.h"

namespace holdfast::keras::layers {

struct BatchNormalizationOptions {
  int64_t axis = -1;  // of the channels
  double momentum = 0.99, epsilon = 1e-3;
  bool center = true, scale = true;
  InitializerOption beta_initializer = "zeros", gamma_initializer = "ones",
                    moving_mean_initializer = "zeros", moving_variance_initializer = "ones";
  RegularizerOption beta_regularizer = {}, gamma_regularizer = {};
  ConstraintOption beta_constraint = {}, gamma_constraint = {};
  bool renorm = false;
  Config renorm_clipping = {};
  double renorm_momentum = 0.99;
  bool synchronized = false;  // statistics of all replicas' batches
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API BatchNormalizationLayer : public Declares<BatchNormalizationOptions> {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override;

  HeldWeight gamma{*this}, beta{*this};  // empty without `scale`, without `center`
  HeldWeight moving_mean{*this}, moving_variance{*this};
  // With `renorm`: what is used otherwise follows from the first, training goes by the others.
  HeldWeight moving_stddev{*this}, renorm_mean{*this}, renorm_stddev{*this};

 private:
  void check() override;
  /// A bound that `renorm_clipping` says; nothing where it does not.
  std::optional<double> bound(const char* name) const;
  struct Correction {
    Tensor factor, offset;  // of what the batch's own statistics give
  };
  /// How far the batch is from the averages; these and the moving statistics move on.
  Correction renormalized(const Tensor& mean, const Tensor& variance) const;
  std::tuple<Tensor, Tensor> moments(const Tensor& x, int axis, const Nested& mask) const;
};

/// While training, `gamma * (inputs - mean) / sqrt(variance + epsilon) + beta` with the mean and
/// the variance of the batch, which also move the averages that are used otherwise. A layer that is
/// not trainable uses its averages always.
using BatchNormalization = Handle<BatchNormalizationLayer>;

}  // namespace holdfast::keras::layers
