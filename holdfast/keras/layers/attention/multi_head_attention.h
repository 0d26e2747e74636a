// MultiHeadAttention: several attentions beside each other, each with projections of its own.
#pragma once

#include "holdfast/keras/layers/attention/projected.h"

namespace holdfast::keras::layers {

struct MultiHeadAttentionOptions {
  int64_t num_heads = 0, key_dim = 0;     // how many, and how large a head's query and key are
  std::optional<int64_t> value_dim = {};  // none: as `key_dim`
  double dropout = 0;
  bool use_bias = true;
  Shape output_shape = Shape::unknown();     // none: as the query's last axis
  std::optional<Sides> attention_axes = {};  // none: all but the batch and the last
  std::optional<int64_t> sliding_window = {};
  std::optional<bool> flash_attention = {};
  InitializerOption kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  RegularizerOption kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  ConstraintOption kernel_constraint = {}, bias_constraint = {};
  bool use_gate = false;
  Seed seed = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API MultiHeadAttentionLayer
    : public Declares<MultiHeadAttentionOptions, ProjectedAttention> {
 public:
  MultiHeadAttentionLayer() = default;
  explicit MultiHeadAttentionLayer(const MultiHeadAttentionOptions& o);
  const ClassDef& definition() const override;

 private:
  void check() override;
  Says says() const override;
  void make_projections(const Shape& query, const Shape& value, const Shape& key) override;
  Attended attended(const Tensor& query, const Tensor& key, const Tensor& value,
                    const AttentionRun& run, bool scores) const override;
};

/// `layer(query, {.named = {{"value", value}}})`, in Python `layer(query, value)`.
using MultiHeadAttention = Handle<MultiHeadAttentionLayer>;

}  // namespace holdfast::keras::layers
