// Attention and AdditiveAttention: a query looks at values, by how well it fits their keys.
#pragma once

#include "holdfast/keras/handle.h"
#include "holdfast/keras/seed_generator.h"

namespace holdfast::keras::layers {

struct AttentionOptions {
  bool use_scale = false;          // a weight that scores are multiplied with
  std::string score_mode = "dot";  // or "concat": the sum of tanh(query + key)
  double dropout = 0;
  Seed seed = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

/// What both have in common: inputs [query, value] or [query, value, key].
class HOLDFAST_API AttentionBase : public Layer, public DrawsSeeds {
 public:
  bool supports_masking() const override { return true; }
  void build_all(const std::vector<Shape>& inputs) override;
  Nested call_all(const Nested& inputs, const CallOptions&) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;

  HeldWeight scale{*this}, concat_score_weight{*this};  // empty where there are none

 protected:
  virtual void make_weights(const Shape& query) = 0;
  virtual Tensor scores(const Tensor& query, const Tensor& key) const = 0;
  virtual double dropout() const = 0;

 private:
  void need_inputs(size_t n) const;
};

class HOLDFAST_API AttentionLayer : public Declares<AttentionOptions, AttentionBase> {
 public:
  AttentionLayer() = default;
  explicit AttentionLayer(const AttentionOptions& o);
  static const ClassDef& class_def();
  const ClassDef& definition() const override { return class_def(); }

 protected:
  void check() override;
  void make_weights(const Shape& query) override;
  Tensor scores(const Tensor& query, const Tensor& key) const override;
  double dropout() const override { return options_.dropout; }
  Start seed_start() const override { return {options_.dropout > 0, options_.seed}; }
};

/// Luong's attention: `softmax(query x key^T) x value`.
using Attention = Handle<AttentionLayer>;

struct AdditiveAttentionOptions {
  bool use_scale = true;
  double dropout = 0;
  Seed seed = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API AdditiveAttentionLayer
    : public Declares<AdditiveAttentionOptions, AttentionBase> {
 public:
  AdditiveAttentionLayer() = default;
  explicit AdditiveAttentionLayer(const AdditiveAttentionOptions& o);
  const ClassDef& definition() const override;

 protected:
  void check() override;
  void make_weights(const Shape& query) override;
  Tensor scores(const Tensor& query, const Tensor& key) const override;
  double dropout() const override { return options_.dropout; }
  Start seed_start() const override { return {options_.dropout > 0, options_.seed}; }
};

/// Bahdanau's attention: scores are `sum(scale * tanh(query + key))`.
using AdditiveAttention = Handle<AdditiveAttentionLayer>;

}  // namespace holdfast::keras::layers
