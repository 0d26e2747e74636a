#include "holdfast/exec/specialise.h"

#include <algorithm>

#include "holdfast/base/patient_lock.h"
#include "holdfast/graph/trace.h"

namespace holdfast {

Ref<Graph> specialised(const Graph& g, std::span<const Tensor> inputs) {
  auto out = make_ref<Graph>(make_ref<Scope>(g.scope->kind, g.scope->name, nullptr));
  Tracer tracer(out);
  Tracing tracing(tracer, true);
  std::unordered_map<const Node*, Tensors> values;
  std::unordered_map<const Node*, Ref<Node>> copies;
  auto given = [&](const Node* n, const Tensor& t) {
    // What a branch left out has no shape; it is handed on and looked at by nobody.
    const Type type = t.defined() ? Type{t.dtype(), t.shape()} : n->outputs[0];
    values[n] = {tracer.input(type.dtype, type.shape, n->name)};
    copies[n] = Ref<Node>(node_of(values[n][0]));
  };
  for (size_t i = 0; i < g.inputs.size(); ++i) given(g.inputs[i].get(), inputs[i]);
  for (size_t i = 0; i < g.captures.size(); ++i)
    given(g.captures[i].inner.get(), inputs[g.inputs.size() + i]);
  for (const Ref<Node>& n : g.nodes) {
    if (n->op == &placeholder_op()) continue;
    if (is_constant(*n)) {
      values[n.get()] = {constant_of(*n)};
      continue;
    }
    Tensors in, results;
    for (const Edge& e : n->inputs)
      in.push_back(e.node ? values.at(e.node.get())[static_cast<size_t>(e.output)] : Tensor());
    AtSite line(n->where);
    tracer.run(*n->op, in, n->attrs, results);
    Ref<Node> made = out->nodes.back();
    made->device = n->device;
    made->placed = n->placed;
    made->state = n->state;
    for (const Ref<Node>& b : n->after)
      if (auto it = copies.find(b.get()); it != copies.end()) made->after.push_back(it->second);
    copies.emplace(n.get(), made);
    values[n.get()] = std::move(results);
  }
  for (const Edge& e : g.outputs)
    out->outputs.push_back(
        e.node ? tracer.resolve(values.at(e.node.get())[static_cast<size_t>(e.output)]) : Edge{});
  return out;
}

Ref<Plan> SizePlans::find(const Graph& g, std::span<const Tensor> inputs,
                          const std::function<Ref<Plan>(Ref<Graph>)>& make) {
  auto same = [&](const Entry& e) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].defined() && !(e.shapes[i] == inputs[i].shape())) return false;
    return true;
  };
  PatientLock lock(mutex_);
  auto it = std::find_if(entries_.begin(), entries_.end(), same);
  if (it == entries_.end()) {
    if (entries_.size() == kMost) entries_.pop_back();
    Entry fresh;
    for (const Tensor& t : inputs) fresh.shapes.push_back(t.defined() ? t.shape() : Shape());
    entries_.insert(entries_.begin(), std::move(fresh));
    return nullptr;
  }
  std::rotate(entries_.begin(), it, it + 1);
  if (Entry& now = entries_.front(); now.tried || made_ >= kMostMade) return now.plan;
  ++made_;
  entries_.front().tried = true;
  Ref<Plan> made;
  try {
    made = make(specialised(g, inputs));
  } catch (const Error&) {
    return nullptr;  // what is wrong with this call, the general plan says on the user's line
  }
  // A program's code that ran meanwhile may have come here too.
  if (it = std::find_if(entries_.begin(), entries_.end(), same); it != entries_.end())
    it->plan = made;
  return made;
}

std::vector<Ref<Plan>> SizePlans::all() {
  PatientLock lock(mutex_);
  std::vector<Ref<Plan>> out;
  for (const Entry& e : entries_)
    if (e.plan) out.push_back(e.plan);
  return out;
}

}  // namespace holdfast
