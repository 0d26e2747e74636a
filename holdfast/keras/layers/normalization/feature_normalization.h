// Normalization: features brought to mean 0 and variance 1 by statistics of a whole data set.
#pragma once

#include <utility>

#include "holdfast/keras/handle.h"

namespace holdfast::keras::layers {

struct NormalizationOptions {
  Config axis = -1;                 // of the features: one, or several; null: one mean for all
  Config mean = {}, variance = {};  // known ones; else `adapt` finds them
  bool invert = false;              // the way back
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API NormalizationLayer : public Declares<NormalizationOptions> {
 public:
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  void build(const Shape& inputs) override;
  Tensor call(const Tensor& inputs, const CallOptions&) override;

  /// Finds mean and variance of all that is in `data`, whose first axis are examples.
  void adapt(const Tensor& data) { adapt(std::vector<Tensor>{data}); }
  /// The same of several batches.
  void adapt(const std::vector<Tensor>& batches);
  /// The same of batches that `next` gives one by one, and at last an empty tensor.
  void adapt(const holdfast::Callback<Tensor()>& next);
  /// Mean and variance as the inputs meet them, once the layer is built.
  std::pair<Tensor, Tensor> statistics() const;

  HeldWeight mean{*this}, variance{*this}, count{*this};  // empty where the options have them

 private:
  void check() override;
  std::vector<int64_t> axes_{-1};  // as they were given
  std::vector<int64_t> kept_axes(const Shape& inputs) const;
  Tensor placed(const Tensor& value, const Shape& inputs) const;
  std::pair<Tensor, Tensor> values(DType dtype) const;
};

/// `(inputs - mean) / sqrt(variance)` for each feature.
using Normalization = Handle<NormalizationLayer>;

}  // namespace holdfast::keras::layers
