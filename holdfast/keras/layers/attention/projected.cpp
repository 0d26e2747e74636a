#include "holdfast/keras/layers/attention/projected.h"

#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

const Tensor& argument(const CallOptions& o, const char* name, const Layer& of) {
  const Nested* given = o.find(name);
  if (!given)
    fail(Code::E1104, cat(of.described(), " is called without `", name, "`"),
         "attention looks at a value; where a sequence looks at itself it is both",
         {manual_fix("give it: the query and the value are two arguments")});
  return given->tensor(cat(of.described(), ": `", name, "`"));
}

}  // namespace

std::vector<Shape> ProjectedAttention::shapes_to_build(const Nested& inputs,
                                                       const CallOptions& o) const {
  const Tensor &query = inputs.tensor("`query`"), &value = argument(o, "value", *this);
  const Tensor& key = o.find("key") ? argument(o, "key", *this) : value;
  return {query.shape(), value.shape(), key.shape()};
}

void ProjectedAttention::build_all(const std::vector<Shape>& given) {
  if (given.empty() || given.size() > 3)
    fail(Code::E1104, cat(described(), " is built for ", given.size(),
                          " shapes, expected those of query, value and key"));
  std::vector<Shape> all = given;
  while (all.size() < 3) all.push_back(all.back());
  static const char* names[] = {"query", "value", "key"};
  for (size_t i = 0; i < 3; ++i)
    if (!all[i].has_rank() || all[i].rank() < 3 || all[i][all[i].rank() - 1] < 0)
      fail(Code::E1102, cat(described(), ": `", names[i], "` has the shape ", all[i].text(),
                            ", expected [batch, places, size] of a known size"));
  for (int i = 1; i + 1 < all[1].rank(); ++i)
    if (all[1].rank() != all[2].rank() ||
        (all[1][i] >= 0 && all[2][i] >= 0 && all[1][i] != all[2][i]))
      fail(Code::E1102,
           cat(described(), ": `value` has the shape ", all[1].text(), " and `key` has ",
               all[2].text(), ", expected the same but for the last axis"));
  make_projections(all[0], all[1], all[2]);
}

Config ProjectedAttention::get_build_config() const {
  const auto& shapes = built_for();
  if (!shapes || shapes->empty()) return nullptr;
  static const char* names[] = {"query_shape", "value_shape", "key_shape"};
  // Keys that are the values are not told of.
  size_t many = shapes->size() == 3 && (*shapes)[2] == (*shapes)[1] ? 2 : shapes->size();
  ConfigDict out;
  for (size_t i = 0; i < many; ++i) out.set(names[i], OptionType<Shape>::get((*shapes)[i]));
  return ConfigDict{{"shapes_dict", out}};
}

Ref<EinsumDenseLayer> ProjectedAttention::projection(const char* name, const std::string& equation,
                                                     std::vector<int64_t> output,
                                                     const std::string& bias_axes,
                                                     const Shape& inputs, const char* activation) {
  Says s = says();
  EinsumDenseOptions o = s.projection;
  o.equation = equation;
  o.output_shape = Shape(output);
  if (s.bias) o.bias_axes = bias_axes;
  if (activation) o.activation = activation;
  o.name = name;
  o.trainable = trainable();
  Ref<EinsumDenseLayer> made = make_ref<EinsumDenseLayer>();
  made->configure(o);
  build_inner(*made, {inputs});
  hold(Ref<ModuleObject>(made));
  return made;
}

Nested ProjectedAttention::call_all(const Nested& inputs, const CallOptions& o) {
  if (!query_dense)
    fail(Code::E1104, cat(described(), " has no projections"),
         "`build` makes them, and a class that overrides `build` has to call the one it overrides");
  const Tensor& query = inputs.tensor(cat(described(), ": `query`"));
  Tensor value = as_input(argument(o, "value", *this));
  bool other = o.find("key");
  Tensor key = other ? as_input(argument(o, "key", *this)) : value;
  Says s = says();
  AttentionRun run{.causal = said(o, "use_causal_mask", *this), .window = s.window};
  run.seeds = seeds();
  if (o.training.value_or(false)) run.dropout = s.dropout;
  if (const Nested* mask = o.find("attention_mask"))
    run.mask = cast(mask->tensor(cat(described(), ": `attention_mask`")), boolean);
  Tensor queries = mask_said(o, "query_mask", {});
  if (!queries.defined() && o.mask.is_tensor()) queries = cast(o.mask.tensor(), boolean);
  if (queries.defined()) run.mask = both(run.mask, expand_dims(queries, -1));
  Tensor values = mask_said(o, "value_mask", argument(o, "value", *this));
  if (values.defined()) run.mask = both(run.mask, expand_dims(values, -2));
  Tensor keys = mask_said(o, "key_mask", other ? argument(o, "key", *this) : Tensor());
  if (keys.defined()) run.mask = both(run.mask, expand_dims(keys, -2));
  auto project = [&](const Ref<EinsumDenseLayer>& by, const Tensor& x) {
    return by->run(Nested(x), {.training = o.training}).tensor();
  };
  bool scores = said(o, "return_attention_scores", *this);
  // As in Keras, whose kernel for these calls does so, and whose steps for others do not.
  run.spreads = !scores && s.dropout == 0 && query.shape().rank() == 3;
  Attended y = attended(project(query_dense, query), project(key_dense, key),
                        project(value_dense, value), run, scores);
  if (gate_dense) y.output = y.output * project(gate_dense, query);
  Tensor out = project(output_dense, y.output);
  if (!scores) return out;
  return Nested::tuple({out, y.scores});
}

Nested ProjectedAttention::compute_mask(const Nested&, const Nested& mask) {
  std::vector<Tensor> masks = mask.leaves();
  return masks.empty() ? Nested() : Nested::list({masks[0]});
}

}  // namespace holdfast::keras::layers
