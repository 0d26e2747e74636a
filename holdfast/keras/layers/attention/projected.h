// What layers of attention with several heads have in common: projections of query, value and key,
// masks, and a projection of what came out.
#pragma once

#include "holdfast/keras/layers/attention/scaled_dot_product.h"
#include "holdfast/keras/layers/einsum_dense.h"

namespace holdfast::keras::layers {

class HOLDFAST_API ProjectedAttention : public Layer, public DrawsSeeds {
 public:
  bool supports_masking() const override { return true; }
  std::vector<Shape> shapes_to_build(const Nested& inputs, const CallOptions&) const override;
  void build_all(const std::vector<Shape>& inputs) override;
  Nested call_all(const Nested& inputs, const CallOptions&) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;
  Config get_build_config() const override;

  Ref<EinsumDenseLayer> query_dense, key_dense, value_dense, gate_dense, output_dense;

 protected:
  /// What the layer's options say, to whichever class they belong.
  struct Says {
    double dropout = 0;
    std::optional<int64_t> window = {};
    Seed seed = {};
    bool bias = true, gate = false;
    EinsumDenseOptions projection = {};  // initializers, regularizers, constraints
  };
  virtual Says says() const = 0;
  // As in Keras, it begins to draw when it is built.
  Start seed_start() const override {
    Says s = says();
    return {query_dense && s.dropout > 0, s.seed};
  }
  virtual void make_projections(const Shape& query, const Shape& value, const Shape& key) = 0;
  /// Attention over what is projected; `run.mask` is as the call said it.
  virtual Attended attended(const Tensor& query, const Tensor& key, const Tensor& value,
                            const AttentionRun& run, bool scores) const = 0;
  /// A new projection, built.
  Ref<EinsumDenseLayer> projection(const char* name, const std::string& equation,
                                   std::vector<int64_t> output, const std::string& bias_axes,
                                   const Shape& inputs, const char* activation = nullptr);
};

/// A projection as what a class shows it.
template <Ref<EinsumDenseLayer> ProjectedAttention::* part>
Config shown_part(const Object& o) {
  const auto& layer = dynamic_cast<const ProjectedAttention&>(o).*part;
  return layer ? Config(Ref<Object>(layer)) : Config();
}

/// Options of all of them after those of their own; see `MultiHeadAttentionOptions`.
template <class L>
Declare<L>&& projection_options(Declare<L>&& d) {
  using O = typename L::Options;
  return std::move(d)
      .template option<&O::kernel_initializer>("kernel_initializer")
      .template option<&O::bias_initializer>("bias_initializer")
      .template option<&O::kernel_regularizer>("kernel_regularizer")
      .template option<&O::bias_regularizer>("bias_regularizer")
      .template option<&O::activity_regularizer>("activity_regularizer")
      .template option<&O::kernel_constraint>("kernel_constraint")
      .template option<&O::bias_constraint>("bias_constraint")
      .template option<&O::use_gate>("use_gate")
      .template option<&O::seed>("seed")
      .layer_options()
      .property("_query_dense", &shown_part<&ProjectedAttention::query_dense>)
      .property("_key_dense", &shown_part<&ProjectedAttention::key_dense>)
      .property("_value_dense", &shown_part<&ProjectedAttention::value_dense>)
      .property("_gate_dense", &shown_part<&ProjectedAttention::gate_dense>)
      .property("_output_dense", &shown_part<&ProjectedAttention::output_dense>)
      .parameters({"query", "value", "key", "query_mask", "value_mask", "key_mask",
                   "attention_mask", "return_attention_scores", "training", "use_causal_mask"});
}

template <class O>
EinsumDenseOptions projection_of(const O& o) {
  EinsumDenseOptions out;
  out.kernel_initializer = o.kernel_initializer;
  out.bias_initializer = o.bias_initializer;
  out.kernel_regularizer = o.kernel_regularizer;
  out.bias_regularizer = o.bias_regularizer;
  out.activity_regularizer = o.activity_regularizer;
  out.kernel_constraint = o.kernel_constraint;
  out.bias_constraint = o.bias_constraint;
  out.dtype = o.dtype;
  return out;
}

/// Refuses options that make no sense.
template <class O>
void check_attention(const O& o, const std::string& of) {
  if (!(o.dropout >= 0 && o.dropout < 1))
    fail(Code::E1103,
         cat(of, ": `dropout` is ", o.dropout, ", expected 0 or more, and less than 1"));
  if (o.sliding_window && *o.sliding_window < 1)
    fail(Code::E1103,
         cat(of, ": `sliding_window` is ", *o.sliding_window, ", expected at least 1"));
  if (o.flash_attention.value_or(false))
    fail(Code::E1105, cat(of, ": `flash_attention` is true, and there is one way only"),
         "attention is one function here, by the fastest way that there is",
         {manual_fix("leave `flash_attention` out")});
}

}  // namespace holdfast::keras::layers
