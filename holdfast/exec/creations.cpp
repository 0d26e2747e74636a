#include "holdfast/exec/creations.h"

#include <algorithm>

#include "holdfast/exec/init_scope.h"
#include "holdfast/exec/plan.h"
#include "holdfast/ops/array.h"

namespace holdfast {
namespace {

int64_t (*g_shared_count)(void* shared) noexcept = nullptr;

// What `wanted` is when the graph's first inputs are these, computed on its own: nothing else of
// the graph runs. Empty where an input that it needs has no value.
Tensor evaluated(const Graph& g, const Edge& wanted, std::span<const Tensor> inputs) {
  auto part = make_ref<Graph>(g.scope);
  part->nodes = needed_for(wanted);
  std::unordered_set<const Node*> needed;
  for (const Ref<Node>& n : part->nodes) needed.insert(n.get());
  Tensors given, out;
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    if (!needed.count(g.inputs[i].get())) continue;
    if (i >= inputs.size() || !inputs[i].defined() || !has_value(inputs[i])) return {};
    part->inputs.push_back(g.inputs[i]);
    given.push_back(value(inputs[i]));
  }
  part->captures = g.captures;
  for (const Capture& c : g.captures) given.push_back(c.outer);
  part->outputs.push_back(wanted);
  Plan::build(part)->run(given, out);
  return out[0];
}

}  // namespace

void set_shared_count(int64_t (*count)(void* shared) noexcept) { g_shared_count = count; }

Creations::Creations(Tracer& tracer, std::span<const Tensor> inputs)
    : tracer_(tracer), inputs_(inputs), around_(std::exchange(creation_watcher(), this)) {}

Creations::~Creations() { creation_watcher() = around_; }

Tensor Creations::starting_value(const Tensor& symbol) {
  const Scope* owner = symbol.is_symbolic() ? symbol_of(symbol)->scope.get() : nullptr;
  const Scope* own = tracer_.graph()->scope.get();
  if (owner && owner->open() && owner != own && owner->inside(own) && symbol.shape().is_full()) {
    // A loop's body or a side of a branch gives it its first value each time that it runs.
    InitScope eagerly;
    return zeros(Sizes(symbol.shape().dims()), symbol.dtype());
  }
  Edge wanted = tracer_.resolve(symbol);
  InitScope eagerly;
  if (Tensor found = evaluated(*tracer_.graph(), wanted, inputs_); found.defined()) return found;
  fail(
      Code::E0401, "a Variable's initial value depends on an argument that has no value",
      "the function is traced for specifications only, so nothing can compute it",
      {manual_fix("make the Variable outside of the function, or call the function with tensors")});
}

void Creations::created(const Variable& v, const Tensor& given) {
  std::vector<Ref<Node>>& nodes = tracer_.graph()->nodes;
  size_t before = nodes.size();
  v.assign(given);
  bool here = nodes.size() > before && nodes.back()->op->traits.update == Update::kSet;
  made_.push_back({v.handle(), here ? nodes.back() : nullptr});
}

void Creations::created_aside(const Variable& v) { aside_.push_back({v.handle(), nullptr}); }

Variable Creations::kept_by_graph() const {
  std::unordered_set<const Resource*> used;
  for (const Ref<Node>& n : tracer_.graph()->nodes)
    if (n->op == &handle_op()) used.insert(resource_behind(constant_of(*n)));
  for (const Made& m : aside_)
    if (!outlives(m) && used.count(resource_behind(m.handle)))
      return Variable::from_handle(m.handle);
  return {};
}

bool Creations::outlives(const Made& m) {
  const VariableState& v = *variable_state(m.handle);
  void* shared = v.shared();
  return (shared && g_shared_count ? g_shared_count(shared) : v.use_count()) > 1;
}

bool Creations::locals() const {
  return std::any_of(made_.begin(), made_.end(), [](const Made& m) { return !outlives(m); });
}

std::vector<Variable> Creations::survivors() {
  std::vector<Variable> out;
  Graph& g = *tracer_.graph();
  for (const Made& m : made_) {
    if (!outlives(m)) continue;
    out.push_back(Variable::from_handle(m.handle));
    auto at = std::find(g.nodes.begin(), g.nodes.end(), m.assign);
    if (!m.assign || at == g.nodes.end()) continue;
    auto index = static_cast<size_t>(at - g.nodes.begin());
    g.nodes.erase(at);
    for (CustomGradient& c : g.customs)
      if (c.position > index) --c.position;
  }
  return out;
}

}  // namespace holdfast
