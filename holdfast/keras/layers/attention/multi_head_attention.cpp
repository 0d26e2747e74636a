#include "holdfast/keras/layers/attention/multi_head_attention.h"

#include <algorithm>
#include <cmath>

#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::layers {
namespace {

using O = MultiHeadAttentionOptions;
ClassDef& declared =
    projection_options(
        Declare<MultiHeadAttentionLayer>(
            "layers.MultiHeadAttention",
            "Several attentions beside each other, each with projections of its own.",
            &Layer::def())
            .required<&O::num_heads>("num_heads")
            .required<&O::key_dim>("key_dim")
            .option<&O::value_dim>("value_dim")
            .option<&O::dropout>("dropout")
            .option<&O::use_bias>("use_bias")
            .option<&O::output_shape>("output_shape")
            .option<&O::attention_axes>("attention_axes")
            .option<&O::sliding_window>("sliding_window")
            .option<&O::flash_attention>("flash_attention", false))
        .key_before("use_gate", "output_shape")
        .property("query_dense", &shown_part<&ProjectedAttention::query_dense>)
        .property("key_dense", &shown_part<&ProjectedAttention::key_dense>)
        .property("value_dense", &shown_part<&ProjectedAttention::value_dense>)
        .property("output_dense", &shown_part<&ProjectedAttention::output_dense>);

std::string letters(int from, int many) {
  std::string out;
  for (int i = 0; i < many; ++i) out += static_cast<char>('a' + from + i);
  return out;
}

// Axes that are not attended to, then those that are, then the last.
std::vector<int64_t> in_order(int rank, const std::vector<int64_t>& axes) {
  std::vector<int64_t> out;
  for (int i = 0; i + 1 < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) out.push_back(i);
  out.insert(out.end(), axes.begin(), axes.end());
  out.push_back(rank - 1);
  return out;
}

// Several axes of places become one; the last axis stays.
Tensor joined(const Tensor& x, int64_t axes) {
  if (axes == 1) return x;
  Tensor sizes = shape(x);
  int64_t before = x.shape().rank() - 1 - axes;
  return reshape(x, Sizes(concat({at(sizes, slice(0, before)), constant(std::vector<int32_t>{-1}),
                                  at(sizes, slice(-1, std::nullopt))},
                                 0)));
}

}  // namespace

MultiHeadAttentionLayer::MultiHeadAttentionLayer(const MultiHeadAttentionOptions& o) {
  configure(o);
}
const ClassDef& MultiHeadAttentionLayer::definition() const { return declared; }

void MultiHeadAttentionLayer::check() {
  O& o = options_;
  auto positive = [](int64_t v, const char* option) {
    if (v < 1)
      fail(Code::E1103, cat("MultiHeadAttention: `", option, "` is ", v, ", expected at least 1"));
  };
  positive(o.num_heads, "num_heads");
  positive(o.key_dim, "key_dim");
  if (!o.value_dim) o.value_dim = o.key_dim;
  positive(*o.value_dim, "value_dim");
  check_attention(o, "MultiHeadAttention");
  // The penalty is on what each projection gives, not on what the layer gives.
  set_options({.name = o.name, .trainable = o.trainable, .dtype = o.dtype});
}

ProjectedAttention::Says MultiHeadAttentionLayer::says() const {
  const O& o = options_;
  return {o.dropout, o.sliding_window, o.seed, o.use_bias, o.use_gate, projection_of(o)};
}

void MultiHeadAttentionLayer::make_projections(const Shape& query, const Shape& value,
                                               const Shape& key) {
  O& o = options_;
  int rank = query.rank() + 1;  // with the heads
  std::vector<int64_t> axes;
  if (o.attention_axes) axes = o.attention_axes->sizes;
  if (!o.attention_axes)
    for (int i = 1; i < rank - 2; ++i) axes.push_back(i);
  for (int64_t& axis : axes) {
    int64_t said = axis;
    if (axis < 0) axis += rank - 1;
    if (axis < 1 || axis > rank - 3)
      fail(Code::E1103, cat(described(), ": `attention_axes` has the axis ", said,
                            ", and the query has the shape ", query.text()));
  }
  o.attention_axes.emplace().sizes = axes;
  auto heads = [&](const char* name, const Shape& s, int64_t size, const char* activation) {
    int free = s.rank() - 1;
    std::string places = letters(0, free), in = letters(free, 1), out = letters(free + 1, 2);
    std::vector<int64_t> sizes(static_cast<size_t>(free - 1), kUnknown);
    sizes.insert(sizes.end(), {o.num_heads, size});
    return projection(name, places + in + "," + in + out + "->" + places + out, sizes, out, s,
                      activation);
  };
  query_dense = heads("query", query, o.key_dim, nullptr);
  key_dense = heads("key", key, o.key_dim, nullptr);
  if (o.use_gate) gate_dense = heads("gate", query, *o.value_dim, "sigmoid");
  value_dense = heads("value", value, *o.value_dim, nullptr);
  int free = query.rank() - 1;
  std::vector<int64_t> out{query[free]};
  if (o.output_shape.has_rank()) {
    out.clear();
    for (int i = 0; i < o.output_shape.rank(); ++i) out.push_back(o.output_shape[i]);
  }
  std::string places = letters(0, free), in = letters(free, 2),
              made = letters(free + 2, static_cast<int>(out.size()));
  std::vector<int64_t> sizes(static_cast<size_t>(free - 1), kUnknown);
  sizes.insert(sizes.end(), out.begin(), out.end());
  std::vector<int64_t> given;
  for (int i = 0; i < free; ++i) given.push_back(query[i]);
  given.insert(given.end(), {o.num_heads, *o.value_dim});
  output_dense =
      projection("attention_output", places + in + "," + in + made + "->" + places + made, sizes,
                 made, Shape(given));
}

Attended MultiHeadAttentionLayer::attended(const Tensor& query, const Tensor& key,
                                           const Tensor& value, const AttentionRun& given,
                                           bool scores) const {
  std::vector<int64_t> axes = options_.attention_axes->sizes;
  auto many = static_cast<int64_t>(axes.size());
  int rank = query.shape().rank();
  std::vector<int64_t> order = in_order(rank, axes);
  Tensor q = transpose(query, {.perm = order}), k = transpose(key, {.perm = order}),
         v = transpose(value, {.perm = order});
  AttentionRun run = given;
  run.scale = 1 / std::sqrt(static_cast<double>(options_.key_dim));
  if (run.mask.defined()) {
    // A mask has no axis for the heads, and perhaps none for what is before the places.
    int wanted = rank - 1 + static_cast<int>(many);
    if (run.mask.shape().rank() > wanted)
      fail(Code::E1102, cat(described(), ": the mask has the shape ", run.mask.shape().text(),
                            ", expected at most ", wanted, " axes"));
    while (run.mask.shape().rank() < wanted) run.mask = expand_dims(run.mask, -2 * many - 1);
  }
  Tensor q_sizes = shape(q), k_sizes = shape(k);
  if (many > 1 && run.mask.defined()) {
    Tensor places = at(q_sizes, slice(-1 - many, -1)), seen = at(k_sizes, slice(-1 - many, -1));
    Tensor before = at(shape(run.mask), slice(0, -2 * many));
    run.mask = broadcast_to(run.mask, Sizes(concat({before, places, seen}, 0)));
    run.mask = reshape(
        run.mask,
        Sizes(concat(
            {before, expand_dims(reduce_prod(places), 0), expand_dims(reduce_prod(seen), 0)}, 0)));
  }
  Attended y = scaled_dot_product(joined(q, many), joined(k, many), joined(v, many), run);
  if (many > 1) {
    Tensor last = at(shape(v), slice(-1, std::nullopt));
    y.output = reshape(y.output, Sizes(concat({at(q_sizes, slice(0, -1)), last}, 0)));
    if (scores)
      y.scores =
          reshape(y.scores,
                  Sizes(concat({at(q_sizes, slice(0, -1)), at(k_sizes, slice(-1 - many, -1))}, 0)));
  }
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = int64_t(i);
  y.output = transpose(y.output, {.perm = back});
  return y;
}

}  // namespace holdfast::keras::layers
