#include "holdfast/keras/layers/recurrent/cell.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

int64_t first_size(const Config& sizes, const Layer& cell) {
  const Config* first = &sizes;
  while (first->kind() == Config::Kind::kList && !first->as_list().empty())
    first = &first->as_list().front();
  return first->as_integer(cat("`state_size` of ", cell.described()));
}

// Zeros in the form of the sizes: a list of them, or a list of lists.
Nested zeros_of(const Config& sizes, const Tensor& batch, const Layer& cell) {
  std::vector<Nested> items;
  if (sizes.kind() == Config::Kind::kList) {
    for (const Config& one : sizes.as_list()) {
      bool several = one.kind() == Config::Kind::kList;
      Nested inside = zeros_of(one, batch, cell);
      items.push_back(several ? inside : inside[0]);
    }
    return Nested::list(std::move(items));
  }
  int64_t size = sizes.as_integer(cat("`state_size` of ", cell.described()));
  Tensor dims = stack({cast(batch, int32), static_cast<int32_t>(size)});
  DType dtype = is_floating(cell.compute_dtype()) ? cell.compute_dtype() : float32;
  items.emplace_back(zeros(Sizes(dims), dtype));
  return Nested::list(std::move(items));
}

}  // namespace

int64_t CellLayer::output_size() const { return first_size(state_size(), *this); }
Nested CellLayer::initial_state(const Tensor& batch_size) const {
  return zeros_of(state_size(), batch_size, *this);
}

Config state_size_of(const Layer& cell) {
  Config said;
  if (layer_hooks().attribute && layer_hooks().attribute(cell, "state_size", said)) return said;
  if (auto* own = dynamic_cast<const CellLayer*>(&cell)) return own->state_size();
  fail(Code::E1104, cat("a recurrent layer is given ", cell.described(), " as its cell"),
       "a cell says with `state_size` how large its states are, and this layer has none",
       {manual_fix("set `state_size` to a size, or to a list with one for each state")});
}

int64_t output_size_of(const Layer& cell) {
  Config said;
  if (layer_hooks().attribute && layer_hooks().attribute(cell, "output_size", said) &&
      !said.is_null())
    return said.as_integer(cat("`output_size` of ", cell.described()));
  if (auto* own = dynamic_cast<const CellLayer*>(&cell)) return own->output_size();
  return first_size(state_size_of(cell), cell);
}

Nested initial_state_of(Layer& cell, const Tensor& batch_size) {
  Nested said;
  if (layer_hooks().initial_state && layer_hooks().initial_state(cell, batch_size, said))
    return said.is_tensor() ? Nested::list({said}) : said;
  if (auto* own = dynamic_cast<const CellLayer*>(&cell)) return own->initial_state(batch_size);
  return zeros_of(state_size_of(cell), batch_size, cell);
}

Nested GatedCellLayer::call_all(const Nested& inputs, const CallOptions& o) {
  Tensor x = as_factor(*this, inputs.tensor(cat(described(), ": `inputs`")));
  const Nested* given = o.find("states");
  Config sizes = state_size();
  size_t wanted = sizes.kind() == Config::Kind::kList ? sizes.as_list().size() : 1;
  std::vector<Tensor> before = given ? given->leaves() : std::vector<Tensor>{};
  if (before.size() != wanted)
    fail(Code::E1104, cat(described(), ": `states` has ", before.size(), " tensors, expected ",
                          wanted, wanted == 1 ? ": its state" : ": what the step before gave"));
  if (!kernel.defined())
    fail(Code::E1104, cat(described(), " has no kernel"),
         "`build` makes it, and a class that overrides `build` has to call the one it overrides");
  const Shape& s = x.shape();
  int64_t size = kernel.shape()[0];
  if (s.has_rank() && (s.rank() != 2 || (s[1] >= 0 && s[1] != size)))
    fail(Code::E1102, cat(described(), ": `inputs` has the shape ", s.text(), ", expected [batch, ",
                          size, "]: the inputs of one step"));
  CellWeights w = begin(x, o.training.value_or(false));
  for (Tensor& t : before) t = as_input(t);
  Tensors after = step(project(x, w), before, w);
  Nested states = given->is_tensor()
                      ? Nested(after[0])
                      : Nested::list(std::vector<Nested>(after.begin(), after.end()));
  return Nested::tuple({after[0], states});
}

Tensor GatedCellLayer::projected(const Tensor& inputs, const CellWeights& w, int64_t gates) const {
  Tensor y;
  if (w.input_masks.size() > 1) {
    Tensors kernels = split(w.kernel, gates, {.axis = 1});
    std::vector<Tensor> parts;
    for (size_t i = 0; i < kernels.size(); ++i)
      parts.push_back(matmul(inputs * w.input_masks[i], kernels[i]));
    y = concat(parts, -1);
  } else {
    y = matmul(w.input_masks.empty() ? inputs : inputs * w.input_masks[0], w.kernel);
  }
  return w.bias.defined() ? y + w.bias : y;
}

GatedCellLayer::KernelInputs GatedCellLayer::inputs_of(const Tensor& inputs, CellWeights w) const {
  for (Tensor& mask : w.input_masks) mask = expand_dims(mask, 1);
  if (w.input_masks.size() > 1) return {project(inputs, w), {}};
  return {w.input_masks.empty() ? inputs : inputs * w.input_masks[0], {w.kernel, w.bias}};
}

Tensor GatedCellLayer::recurred(const Tensor& state, const CellWeights& w, int64_t gates) const {
  if (w.state_masks.size() <= 1)
    return matmul(w.state_masks.empty() ? state : state * w.state_masks[0], w.recurrent);
  Tensors kernels = split(w.recurrent, gates, {.axis = 1});
  std::vector<Tensor> parts;
  for (size_t i = 0; i < kernels.size(); ++i)
    parts.push_back(matmul(state * w.state_masks[i], kernels[i]));
  return concat(parts, -1);
}

GatedCellLayer* plain_gated_cell(Layer& cell) {
  auto* gated = dynamic_cast<GatedCellLayer*>(&cell);
  if (!gated) return nullptr;
  if (dynamic_cast<ForeignBorn*>(&cell))
    return layer_hooks().overrides && !layer_hooks().overrides(cell, "call") ? gated : nullptr;
  // A class of C++'s that derives from a cell has a typeid of its own.
  Ref<Object> fresh = cell.definition().make ? cell.definition().make() : Ref<Object>();
  return fresh && typeid(*fresh) == typeid(cell) ? gated : nullptr;
}

}  // namespace holdfast::keras::layers
