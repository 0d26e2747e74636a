#include "holdfast/keras/layers/attention/attention.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/layers/attention/scaled_dot_product.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::layers {
namespace {

using O = AttentionOptions;
using A = AdditiveAttentionOptions;

ClassDef& make_class() {
  static ClassDef& d =
      Declare<AttentionLayer>("layers.Attention",
                              "A query looks at values, by its products with their keys.",
                              &Layer::def())
          .option<&O::use_scale>("use_scale")
          .option<&O::score_mode>("score_mode")
          .option<&O::dropout>("dropout")
          .option<&O::seed>("seed")
          .layer_options()
          .parameters({"inputs", "mask", "training", "return_attention_scores", "use_causal_mask"})
          .weight<&AttentionLayer::scale>("scale")
          .weight<&AttentionLayer::concat_score_weight>("concat_score_weight");
  return d;
}
[[maybe_unused]] const ClassDef& attention_class = make_class();

ClassDef& additive_class =
    Declare<AdditiveAttentionLayer>("layers.AdditiveAttention",
                                    "A query looks at values, by its sums with their keys.",
                                    &Layer::def())
        .option<&A::use_scale>("use_scale")
        .option<&A::dropout>("dropout")
        .layer_options()
        .option<&A::seed>("seed")
        .parameters({"inputs", "mask", "training", "return_attention_scores", "use_causal_mask"})
        .weight<&AdditiveAttentionLayer::scale>("scale");

void need_rate(double rate, const char* of) {
  if (!(rate >= 0 && rate < 1))
    fail(Code::E1103, cat(of, ": `dropout` is ", rate, ", expected 0 or more, and less than 1"));
}

// query + key for each pair of places: [..., T, S, size].
Tensor sums(const Tensor& query, const Tensor& key) {
  return expand_dims(query, -2) + expand_dims(key, -3);
}

}  // namespace

void AttentionBase::need_inputs(size_t n) const {
  if (n != 2 && n != 3)
    fail(Code::E1104, cat(described(), ": `inputs` has ", n, n == 1 ? " tensor" : " tensors",
                          ", expected [query, value] or [query, value, key]"));
}

void AttentionBase::build_all(const std::vector<Shape>& inputs) {
  need_inputs(inputs.size());
  make_weights(inputs[0]);
}

Nested AttentionBase::call_all(const Nested& inputs, const CallOptions& o) {
  need_inputs(inputs.is_sequence() ? inputs.size() : 1);
  const Tensor &query = inputs[0].tensor("`query`"), &value = inputs[1].tensor("`value`");
  const Tensor& key = inputs.size() > 2 ? inputs[2].tensor("`key`") : value;
  if (!o.mask.is_none() && !(o.mask.is_sequence() && (o.mask.size() == 2 || o.mask.size() == 3)))
    fail(Code::E1104, cat(described(), ": `mask` is ", o.mask.form(),
                          ", expected a list: of the query, of the value"));
  auto mask = [&](size_t i) {
    bool given = !o.mask.is_none() && o.mask[i].is_tensor();
    return given ? cast(o.mask[i].tensor(), boolean) : Tensor();
  };
  AttentionRun run{.causal = said(o, "use_causal_mask", *this), .spreads = true};
  if (Tensor values = mask(1); values.defined()) run.mask = expand_dims(values, -2);
  if (o.training.value_or(false)) run.dropout = dropout();
  run.seeds = seeds();
  Attended y = attend(scores(query, key), value, run);
  if (Tensor queries = mask(0); queries.defined())
    y.output = select(expand_dims(queries, -1), y.output, Tensor::scalar(0, y.output.dtype()));
  if (!said(o, "return_attention_scores", *this)) return y.output;
  return Nested::tuple({y.output, y.weights});
}

Nested AttentionBase::compute_mask(const Nested&, const Nested& mask) {
  if (!mask.is_sequence() || mask.size() == 0 || !mask[0].is_tensor()) return {};
  return mask[0];
}

AttentionLayer::AttentionLayer(const AttentionOptions& o) { configure(o); }
const ClassDef& AttentionLayer::class_def() { return make_class(); }
AdditiveAttentionLayer::AdditiveAttentionLayer(const AdditiveAttentionOptions& o) { configure(o); }
const ClassDef& AdditiveAttentionLayer::definition() const { return additive_class; }

void AttentionLayer::check() {
  need_rate(options_.dropout, "Attention");
  if (options_.score_mode != "dot" && options_.score_mode != "concat")
    unknown_identifier("`score_mode` of Attention", options_.score_mode, {"dot", "concat"});
}
void AdditiveAttentionLayer::check() { need_rate(options_.dropout, "AdditiveAttention"); }

void AttentionLayer::make_weights(const Shape&) {
  if (options_.use_scale) scale = add_weight({.name = "scale", .shape = {}, .initializer = "ones"});
  if (options_.score_mode == "concat")
    concat_score_weight =
        add_weight({.name = "concat_score_weight", .shape = {}, .initializer = "ones"});
}

void AdditiveAttentionLayer::make_weights(const Shape& query) {
  if (!options_.use_scale) return;
  int64_t size = query.has_rank() && query.rank() > 0 ? query[query.rank() - 1] : -1;
  if (size < 0)
    fail(Code::E1102, cat(described(), ": the query has the shape ", query.text(),
                          ", expected a known last axis"));
  scale = add_weight({.name = "scale", .shape = {size}, .initializer = "glorot_uniform"});
}

Tensor AttentionLayer::scores(const Tensor& query, const Tensor& key) const {
  if (options_.score_mode == "dot") {
    Tensor y = matmul(query, key, {.transpose_b = true});
    return scale.defined() ? y * read(scale) : y;
  }
  Tensor s = sums(query, key);
  return read(concat_score_weight) *
         reduce_sum(tanh(scale.defined() ? read(scale) * s : s), {.axis = {-1}});
}

Tensor AdditiveAttentionLayer::scores(const Tensor& query, const Tensor& key) const {
  Tensor y = tanh(sums(query, key));
  return reduce_sum(scale.defined() ? read(scale) * y : y, {.axis = {-1}});
}

}  // namespace holdfast::keras::layers
