// GroupQueryAttention: heads of queries in groups, each group with one key and one value.
#pragma once

#include "holdfast/keras/layers/attention/projected.h"

namespace holdfast::keras::layers {

struct GroupQueryAttentionOptions {
  int64_t head_dim = 0, num_query_heads = 0, num_key_value_heads = 0;
  double dropout = 0;
  bool use_bias = true;
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

class HOLDFAST_API GroupQueryAttentionLayer
    : public Declares<GroupQueryAttentionOptions, ProjectedAttention> {
 public:
  GroupQueryAttentionLayer() = default;
  explicit GroupQueryAttentionLayer(const GroupQueryAttentionOptions& o);
  const ClassDef& definition() const override;

 private:
  void check() override;
  Says says() const override;
  void make_projections(const Shape& query, const Shape& value, const Shape& key) override;
  Attended attended(const Tensor& query, const Tensor& key, const Tensor& value,
                    const AttentionRun& run, bool scores) const override;
};

/// `layer(query, {.named = {{"value", value}}})`, in Python `layer(query, value)`.
using GroupQueryAttention = Handle<GroupQueryAttentionLayer>;

}  // namespace holdfast::keras::layers
