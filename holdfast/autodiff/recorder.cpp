#include "holdfast/autodiff/recorder.h"

#include "holdfast/op/op.h"

namespace holdfast {
namespace {

// Dtype and shape of `t` without its memory.
Tensor husk(const Tensor& t) {
  if (!t.defined() || !t.rep()->buffer) return t;
  auto rep = make_ref<TensorRep>(t.dtype(), t.shape(), nullptr);
  rep->id = t.id();
  return Tensor(std::move(rep));
}

Tensors kept(std::span<const Tensor> all, uint32_t bits) {
  Tensors out;
  for (size_t i = 0; i < all.size(); ++i)
    out.push_back(bits >> (i < 31 ? i : 31) & 1 ? all[i] : husk(all[i]));
  return out;
}

}  // namespace

bool GradientTape::Recorder::watch_variable(const Tensor& handle) {
  for (const Tensor& v : variables)
    if (v.id() == handle.id()) return false;
  variables.push_back(handle);
  watch(handle.id());
  return true;
}

void GradientTape::Recorder::ran(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs,
                                 std::span<const Tensor> out) {
  if (options.watch_accessed_variables) {
    for (const Tensor& t : in)
      if (auto* v = variable_behind(t); v && v->trainable) watch_variable(t);
  }
  bool any = false;
  int32_t cut = -1;
  for (const Tensor& t : in) {
    if (!t.defined()) continue;
    any = any || watched.has(t.id());
    if (cut < 0) cut = dead.find(t.id());
  }
  // Only what a tape watches by itself can be taken for a way on: others are no part of its record.
  if (auto* v = in.size() > 1 && !op.gradient ? variable_behind(in[0]) : nullptr; v && v->trainable)
    for (const Tensor& t : in.subspan(1))
      if (watches(t) && taken.size() < kMostTaken)
        taken.push_back({here(), leading_to(t.id()), true});
  bool differentiable = false;
  for (const Tensor& t : out) differentiable = differentiable || (t.defined() && flows(t.dtype()));
  if (!any || !op.gradient || !differentiable) {
    if (any) {
      cuts.push_back({op.name.c_str(), here()});
      cut = static_cast<int32_t>(cuts.size()) - 1;
    }
    if (cut >= 0)
      for (const Tensor& t : out)
        if (t.defined()) dead.set(t.id(), cut);
    return;
  }
  Record r;
  r.op = &op;
  r.name = op.name.c_str();
  r.attrs = attrs;
  r.inputs = kept(in, op.keeps_inputs);
  r.outputs = kept(out, op.keeps_outputs);
  for (const Tensor& t : in) r.in_ids.push_back(t.defined() ? t.id() : 0);
  r.where = here();
  records.push_back(std::move(r));
  auto index = static_cast<int32_t>(records.size());
  int32_t end = -1;
  for (const Tensor& t : out) {
    records.back().out_ids.push_back(t.defined() ? t.id() : 0);
    if (!t.defined()) continue;
    if (flows(t.dtype())) {
      watched.set(t.id(), index);
    } else {  // the places that `top_k` finds: nothing flows back through them
      if (end < 0) {
        end = static_cast<int32_t>(cuts.size());
        cuts.push_back({op.name.c_str(), records.back().where});
      }
      dead.set(t.id(), end);
    }
  }
}

void GradientTape::Recorder::record_custom(const char* name, const std::vector<Tensor>& in,
                                           const std::vector<Tensor>& out, const Backward& backward,
                                           Ref<Paths> paths) {
  bool any = false;
  for (const Tensor& t : in) any = any || watches(t);
  if (!any) return;
  Record r;
  r.name = name;
  r.custom = std::make_shared<Backward>(backward);
  r.paths = std::move(paths);
  r.inputs = kept(in, 0);
  r.outputs = kept(out, 0);
  r.where = here();
  for (const Tensor& t : in) r.in_ids.push_back(t.defined() ? t.id() : 0);
  for (const Tensor& t : out) r.out_ids.push_back(t.defined() ? t.id() : 0);
  records.push_back(std::move(r));
  for (const Tensor& t : out)
    if (t.defined()) watched.set(t.id(), static_cast<int32_t>(records.size()));
}

void GradientTape::Recorder::record_levels(const char* name, const std::vector<Tensor>& in,
                                           const std::vector<Level>& levels) {
  size_t before = records.size();
  record_custom(name, in, levels.back().outputs, levels.back().backward, levels.back().paths);
  if (records.size() == before) return;
  for (const Level& l : levels)
    records.back().choices.push_back(
        {l.outputs.size(), std::make_shared<Backward>(l.backward), l.paths});
}

}  // namespace holdfast
