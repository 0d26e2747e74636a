// Plans made of graphs.
#include <algorithm>
#include <unordered_map>

#include "holdfast/device/device.h"
#include "holdfast/exec/fast_plan.h"
#include "holdfast/exec/plan.h"
#include "holdfast/exec/specialise.h"
#include "holdfast/op/context.h"
#include "holdfast/passes/passes.h"
#include "holdfast/passes/where_values_lie.h"

namespace holdfast {
namespace {

// An input of numbers whose sizes are not all known.
bool is_open(const Node& input) {
  return kPlain.has(input.outputs[0].dtype) && !input.outputs[0].shape.is_full();
}

// Whether the numbers that its shape rule reads, and by which kernels refuse, are part of the
// graph.
bool fixed(const Node& n, const Ref<Scope>& scope) {
  bool integers = false;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const InputDef& def = input_of(n, i);
    const Edge& e = n.inputs[i];
    if (!e.node || is_constant(*e.node)) continue;
    if (def.host) return false;
    if (opaque(type_of(e).dtype)) return true;
    integers = integers || kIndices.has(type_of(e).dtype);
  }
  if (!integers) return true;
  // The rule reads what it is not said to read: tried without it, it tells.
  std::vector<Tensor> in;
  for (const Edge& e : n.inputs)
    in.push_back(!e.node                ? Tensor()
                 : is_constant(*e.node) ? constant_of(*e.node)
                                        : symbol_for(e, scope));
  Infer tried(*n.op, in, n.attrs);
  try {
    n.op->infer(tried);
  } catch (const Error&) {
    return false;  // without them it can't tell anything
  }
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].defined() && in[i].is_symbolic() && tried.asked_for(static_cast<int>(i)))
      return false;
  return true;
}

}  // namespace

Plan::Plan() = default;
Plan::~Plan() = default;

Ref<Plan> Plan::build(Ref<Graph> graph) {
  if (stays_on_cpu(*graph)) return build(std::move(graph), true, {});
  std::vector<Device*> here(graph->arity(), cpu());
  return build_for(std::move(graph), here, false);
}

Ref<Plan> Plan::compile(Ref<Graph> g) {
  if (!stays_on_cpu(*g)) {
    std::vector<Device*> here(g->arity(), cpu());
    return build_for(std::move(g), here, true);
  }
  Ref<Plan> plan = build(optimised(*g), true, {});
  plan->source_ = std::move(g);
  return plan;
}

// The plan for inputs that lie there, and for variables where they are now.
Ref<Plan> Plan::build_for(Ref<Graph> source, std::span<Device* const> inputs, bool with_passes) {
  Places places;
  std::vector<VariableState*> variables = variables_in(*source);
  std::vector<Device*> lie(inputs.begin(), inputs.end());
  for (VariableState* v : variables) lie.push_back(place_of(*v));
  bool explicitly = device_policy() == DevicePolicy::kExplicit;
  Ref<Graph> graph =
      with_passes ? optimised_for(*source, inputs, places) : placed_for(*source, inputs, places);
  Ref<Plan> plan = build(std::move(graph), false, std::move(places));
  plan->variables_ = std::move(variables);
  plan->places_ = std::move(lie);
  plan->placed_ = true;
  plan->explicit_ = explicitly;
  plan->with_passes_ = with_passes;
  plan->source_ = std::move(source);
  return plan;
}

Ref<Plan> Plan::build(Ref<Graph> graph, bool local, Places places) {
  auto plan = make_ref<Plan>();
  Plan& p = *plan;
  p.graph_ = graph;
  if (local) p.variables_ = variables_in(*graph);
  std::unordered_map<const Node*, int> first;  // the slot of output 0
  std::vector<int> last_use;                   // the step that reads a slot last; -1: none
  auto new_slots = [&](const Node* n) {
    first[n] = static_cast<int>(p.initial_.size());
    p.initial_.resize(p.initial_.size() + n->outputs.size());
    last_use.resize(p.initial_.size(), -1);
    return first[n];
  };
  auto slot = [&](const Edge& e) { return e.node ? first.at(e.node.get()) + e.output : -1; };
  for (const Ref<Node>& n : graph->inputs) p.inputs_.push_back(new_slots(n.get()));
  for (const Capture& c : graph->captures) p.inputs_.push_back(new_slots(c.inner.get()));
  for (const Ref<Node>& n : graph->nodes) {
    if (n->op == &placeholder_op()) {
      if (!first.count(n.get())) new_slots(n.get());  // fed to nobody: its readers will say so
      continue;
    }
    int out = new_slots(n.get());
    if (is_constant(*n)) {
      p.initial_[static_cast<size_t>(out)] = constant_of(*n);
      continue;
    }
    Step s;
    s.node = n;
    s.out = out;
    for (const Edge& e : n->inputs) {
      s.in.push_back(slot(e));
      if (s.in.back() >= 0)
        last_use[static_cast<size_t>(s.in.back())] = static_cast<int>(p.steps_.size());
    }
    for (const Edge& e : n->inputs)
      s.owns = s.owns || (e.node && type_of(e).dtype == DType::kVariant);
    s.fixed = fixed(*n, graph->scope);
    s.device = cpu();
    if (!local) {
      s.place = std::make_unique<Place>(std::move(places.at(n.get())));
      s.place->node = nullptr;  // the step has it
      s.device = s.place->device;
    }
    s.binds = s.fixed || n->op->prepares;
    if (sizes_are_known(*n)) {
      s.types = std::make_unique<Infer>(*n->op, std::span<const Tensor>(), n->attrs);
      for (const Type& t : n->outputs) {
        s.types->output(t.dtype, t.shape);
        p.bytes_ += t.shape.size() * size_of(t.dtype);
      }
    }
    p.steps_.push_back(std::move(s));
  }
  bool plain = true;  // lists and handles carry more than a shape
  auto look = [&](const Node& n) {
    p.open_ = p.open_ || is_open(n);
    plain =
        plain && n.outputs[0].dtype != DType::kResource && n.outputs[0].dtype != DType::kVariant;
  };
  for (const Ref<Node>& n : graph->inputs) look(*n);
  for (const Capture& c : graph->captures) look(*c.inner);
  p.open_ = p.open_ && plain;
  if (p.open_) p.sized_ = std::make_unique<SizePlans>();
  for (const Edge& e : graph->outputs) {
    p.outputs_.push_back(slot(e));
    if (p.outputs_.back() >= 0) last_use[static_cast<size_t>(p.outputs_.back())] = INT32_MAX;
  }
  for (size_t i = 0; i < last_use.size(); ++i)
    if (!p.initial_[i].defined() && last_use[i] >= 0 && last_use[i] != INT32_MAX)
      p.steps_[static_cast<size_t>(last_use[i])].done.push_back(static_cast<int>(i));
  for (size_t k = 0; k < p.steps_.size(); ++k) {  // what nobody reads goes at once
    Step& s = p.steps_[k];
    for (size_t i = 0; i < s.node->outputs.size(); ++i)
      if (int o = s.out + static_cast<int>(i); last_use[static_cast<size_t>(o)] < 0)
        s.done.push_back(o);
  }
  return plan;
}

}  // namespace holdfast
