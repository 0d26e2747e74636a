// Bidirectional: a recurrent layer that goes over sequences from both ends.
#pragma once

#include "holdfast/keras/layers/recurrent/rnn.h"

namespace holdfast::keras::layers {

struct BidirectionalOptions {
  LayerOption layer = {};
  std::optional<std::string> merge_mode = "concat";  // or "sum", "mul", "ave"; none: both
  LayerOption backward_layer = {};                   // none: as `layer`, the other way round
  RegularizerOption activity_regularizer = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API BidirectionalLayer : public Declares<BidirectionalOptions> {
 public:
  BidirectionalLayer() = default;
  explicit BidirectionalLayer(const BidirectionalOptions& o);
  const ClassDef& definition() const override;
  bool supports_masking() const override { return true; }
  void build_all(const std::vector<Shape>& inputs) override;
  Nested call_all(const Nested& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override {
    return forward_ ? forward_->input_spec() : std::nullopt;
  }
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;
  ConfigDict get_config() const override;

  /// The two layers that it runs: copies of what it was made with.
  const Ref<RNNLayer>& forward_layer() const { return forward_; }
  const Ref<RNNLayer>& backward_layer() const { return backward_; }
  void reset_state();

 private:
  void check() override;
  Tensor merged(const Tensor& forward, const Tensor& backward) const;

  Ref<RNNLayer> forward_, backward_;
};

/// `Bidirectional({.layer = LSTM({.units = 8})})`.
using Bidirectional = Handle<BidirectionalLayer>;

}  // namespace holdfast::keras::layers
