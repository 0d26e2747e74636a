#include "holdfast/keras/layers/attention/group_query_attention.h"

#include <cmath>

#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

using O = GroupQueryAttentionOptions;
ClassDef& declared =
    projection_options(Declare<GroupQueryAttentionLayer>(
                           "layers.GroupQueryAttention",
                           "Heads of queries in groups, each group with one key and one value.",
                           &Layer::def())
                           .required<&O::head_dim>("head_dim")
                           .required<&O::num_query_heads>("num_query_heads")
                           .required<&O::num_key_value_heads>("num_key_value_heads")
                           .option<&O::dropout>("dropout")
                           .option<&O::use_bias>("use_bias")
                           .option<&O::sliding_window>("sliding_window")
                           .option<&O::flash_attention>("flash_attention", false))
        .key_before("use_gate", "sliding_window")
        .key_before("dropout", "kernel_initializer")
        .inner_name("GroupedQueryAttention")
        .alias("layers.GroupedQueryAttention");

}  // namespace

GroupQueryAttentionLayer::GroupQueryAttentionLayer(const GroupQueryAttentionOptions& o) {
  configure(o);
}
const ClassDef& GroupQueryAttentionLayer::definition() const { return declared; }

void GroupQueryAttentionLayer::check() {
  const O& o = options_;
  auto positive = [](int64_t v, const char* option) {
    if (v < 1)
      fail(Code::E1103, cat("GroupQueryAttention: `", option, "` is ", v, ", expected at least 1"));
  };
  positive(o.head_dim, "head_dim");
  positive(o.num_query_heads, "num_query_heads");
  positive(o.num_key_value_heads, "num_key_value_heads");
  if (o.num_query_heads % o.num_key_value_heads != 0)
    fail(Code::E1103,
         cat("GroupQueryAttention: `num_query_heads` is ", o.num_query_heads,
             ", expected a multiple of `num_key_value_heads`, which is ", o.num_key_value_heads));
  check_attention(o, "GroupQueryAttention");
  // The penalty is on what each projection gives, not on what the layer gives.
  set_options({.name = o.name, .trainable = o.trainable, .dtype = o.dtype});
}

ProjectedAttention::Says GroupQueryAttentionLayer::says() const {
  const O& o = options_;
  return {o.dropout, o.sliding_window, o.seed, o.use_bias, o.use_gate, projection_of(o)};
}

void GroupQueryAttentionLayer::make_projections(const Shape& query, const Shape& value,
                                                const Shape& key) {
  const O& o = options_;
  for (const Shape* s : {&query, &value, &key})
    if (s->rank() != 3)
      fail(Code::E1102, cat(described(), ": its inputs have the shape ", s->text(),
                            ", expected [batch, places, size]"));
  const char* queries = "abc,cde->abde";
  query_dense =
      projection("query", queries, {kUnknown, o.num_query_heads, o.head_dim}, "de", query);
  key_dense = projection("key", queries, {kUnknown, o.num_key_value_heads, o.head_dim}, "de", key);
  if (o.use_gate)
    gate_dense = projection("gate", queries, {kUnknown, o.num_query_heads, o.head_dim}, "de", query,
                            "sigmoid");
  value_dense =
      projection("value", queries, {kUnknown, o.num_key_value_heads, o.head_dim}, "de", value);
  output_dense = projection("attention_output", "abcd,cde->abe", {kUnknown, query[2]}, "e",
                            Shape{query[0], query[1], o.num_query_heads, o.head_dim});
}

Attended GroupQueryAttentionLayer::attended(const Tensor& query, const Tensor& key,
                                            const Tensor& value, const AttentionRun& given,
                                            bool scores) const {
  const O& o = options_;
  int64_t groups = o.num_key_value_heads, in_group = o.num_query_heads / groups;
  // [batch, groups, heads of a group, places, size]; a key and a value serve all heads of a group.
  auto sizes = [](const Tensor& t, int64_t a, int64_t b, int64_t c) {
    Tensor s = shape(t);
    return Sizes(stack({at(s, 0), at(s, 1), static_cast<int32_t>(a), static_cast<int32_t>(b),
                        static_cast<int32_t>(c)}));
  };
  std::vector<int64_t> order{0, 2, 3, 1, 4};
  Tensor q = transpose(reshape(query, sizes(query, groups, in_group, o.head_dim)), {.perm = order});
  Tensor k = transpose(expand_dims(key, 3), {.perm = order});
  Tensor v = transpose(expand_dims(value, 3), {.perm = order});
  AttentionRun run = given;
  run.scale = 1 / std::sqrt(static_cast<double>(o.head_dim));
  if (run.mask.defined()) {
    int rank = run.mask.shape().rank();
    if (rank > 4)
      fail(Code::E1102, cat(described(), ": the mask has the shape ", run.mask.shape().text(),
                            ", expected at most four axes"));
    while (run.mask.shape().rank() < 4) run.mask = expand_dims(run.mask, -3);
    // An axis of heads becomes one of groups and one of heads of a group.
    int64_t heads = run.mask.shape()[1];
    if (heads == 1) {
      run.mask = expand_dims(run.mask, 1);
    } else {
      Tensor s = shape(run.mask);
      run.mask =
          reshape(run.mask, Sizes(stack({at(s, 0), static_cast<int32_t>(groups),
                                         static_cast<int32_t>(in_group), at(s, 2), at(s, 3)})));
    }
  }
  Attended y = scaled_dot_product(q, k, v, run);
  Tensor s = shape(query);
  auto heads = static_cast<int32_t>(o.num_query_heads);
  y.output = reshape(transpose(y.output, {.perm = {0, 3, 1, 2, 4}}),
                     Sizes(stack({at(s, 0), at(s, 1), heads, static_cast<int32_t>(o.head_dim)})));
  if (scores)
    y.scores = reshape(y.scores, Sizes(stack({at(s, 0), heads, at(s, 1), at(shape(key), 1)})));
  return y;
}

}  // namespace holdfast::keras::layers
