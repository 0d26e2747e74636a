#include "holdfast/exec/concrete.h"

#include <algorithm>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/text.h"
#include "holdfast/graph/trace.h"
#include "holdfast/passes/passes.h"

namespace holdfast {

/// Forward and backward as functions of their own, so that gradients of gradients come for free.
struct ConcreteFunction::Gradient {
  Ref<ConcreteFunction> forward, backward;
  std::vector<size_t> targets;
  size_t outputs = 0;             // of the function itself; residuals follow
  std::vector<size_t> sources;    // inputs that a gradient is computed for
  std::vector<Tensor> variables;  // handles that one is computed for, after the inputs
};

const Plan& ConcreteFunction::plan() {
  std::lock_guard lock(mutex_);
  if (!plan_) plan_ = Plan::build(optimised(*graph_));
  return *plan_;
}

std::shared_ptr<ConcreteFunction::Gradient> ConcreteFunction::gradient() {
  std::lock_guard lock(mutex_);
  if (gradient_) return gradient_;
  auto out = std::make_shared<Gradient>();
  std::vector<Ref<Node>> sources;
  auto consider = [&](const Ref<Node>& n, size_t position) {
    if (!is_differentiable(n->outputs[0].dtype)) return;
    sources.push_back(n);
    out->sources.push_back(position);
  };
  for (size_t i = 0; i < graph_->inputs.size(); ++i) consider(graph_->inputs[i], i);
  for (size_t i = 0; i < graph_->captures.size(); ++i) consider(graph_->captures[i].inner, graph_->inputs.size() + i);
  for (const Ref<Node>& n : graph_->nodes) {
    if (n->op != &handle_op() || !dynamic_cast<VariableState*>(constant_of(*n).rep()->beyond.get())) continue;
    if (!is_differentiable(variable_state(constant_of(*n))->dtype)) continue;
    sources.push_back(n);
    out->variables.push_back(constant_of(*n));
  }
  GraphGradient both = differentiate(graph_, sources);
  out->forward = make_ref<ConcreteFunction>(both.forward);
  out->backward = make_ref<ConcreteFunction>(both.backward);
  out->targets = both.targets;
  out->outputs = graph_->outputs.size();
  return gradient_ = out;
}

Tensors ConcreteFunction::call_as_traced(std::span<const Tensor> arguments) {
  Tensors inputs(arguments);
  for (const Capture& c : graph_->captures) inputs.push_back(c.outer);
  return call(inputs);
}

Tensors ConcreteFunction::call(std::span<const Tensor> inputs) {
  if (context().interpreter) return replay(inputs);
  for (const Tensor& t : inputs) if (t && t.is_symbolic()) return replay(inputs);
  graph_->scope->runs.fetch_add(1, std::memory_order_relaxed);
  if (!context().observers.empty()) return call_recorded(inputs);
  Tensors out;
  plan().run(inputs, out);
  return out;
}

Tensors ConcreteFunction::call_recorded(std::span<const Tensor> inputs) {
  std::vector<Tensor> variables;
  for (const Ref<Node>& n : graph_->nodes)
    if (n->op == &handle_op() && dynamic_cast<VariableState*>(constant_of(*n).rep()->beyond.get())) variables.push_back(constant_of(*n));
  GradientTape::accessed(variables);
  Tensors out;
  if (!GradientTape::watched(inputs) && !GradientTape::watched(variables)) {
    plan().run(inputs, out);
    return out;
  }
  auto g = gradient();
  Tensors all;
  {
    // The tapes see the call as one op; its inside is not theirs.
    InlineVector<Observer*, 4> tapes;
    std::swap(tapes, context().observers);
    try {
      g->forward->plan().run(inputs, all);
    } catch (...) {
      std::swap(tapes, context().observers);
      throw;
    }
    std::swap(tapes, context().observers);
  }
  out = Tensors(std::span<const Tensor>(all.begin(), g->outputs));
  // To a tape a tensor is its id: one that goes in and out, or comes out twice, needs another.
  for (size_t i = 0; i < out.size(); ++i) {
    auto same = [&](const Tensor& t) { return t && t.id() == out[i].id(); };
    if (out[i] && out[i].rep()->buffer && (std::any_of(inputs.begin(), inputs.end(), same) || std::any_of(out.begin(), out.begin() + i, same)))
      out[i] = view_of(out[i], out[i].shape());
  }
  std::vector<Tensor> residuals(all.begin() + g->outputs, all.end());
  std::vector<Tensor> from(inputs.begin(), inputs.end());
  from.insert(from.end(), g->variables.begin(), g->variables.end());
  size_t given = inputs.size();
  std::vector<Tensor> results(out.begin(), out.end());
  GradientTape::record_custom(graph_->scope->name.c_str(), from, results, [g, residuals, given](const std::vector<Tensor>& upstream) {
    Tensors in(residuals.begin(), residuals.end());
    for (size_t t : g->targets) in.push_back(upstream[t]);
    Tensors gradients = g->backward->call(in);
    std::vector<Tensor> dx(given + g->variables.size());
    for (size_t i = 0; i < g->sources.size(); ++i) dx[g->sources[i]] = gradients[i];
    for (size_t i = 0; i < g->variables.size(); ++i) dx[given + i] = gradients[g->sources.size() + i];
    return dx;
  });
  return out;
}

Tensors ConcreteFunction::first_call(std::span<const Tensor> inputs, const std::vector<Tensor>& leaked) {
  if (leaked.empty() || context().interpreter) return call(inputs);
  // The same run must compute both: a second one would draw other random numbers and assign twice.
  auto whole = graph_->continued();
  for (const Tensor& t : leaked) whole->outputs.push_back(edge_of(t));
  Tensors all = make_ref<ConcreteFunction>(whole)->call(inputs);
  size_t own = graph_->outputs.size();
  for (size_t i = 0; i < leaked.size(); ++i) symbol_of(leaked[i])->first = all[own + i];
  all.resize(own);
  return all;
}

Tensors ConcreteFunction::replay(std::span<const Tensor> inputs) const {
  if (!graph_->customs.empty())
    fail(Code::E1105, cat("`", name(), "` has a custom gradient inside, and a concrete function with one can't be called inside a trace"),
         "its gradient is Python code that belongs to the trace it was made in", {manual_fix("call the function itself instead")});
  std::unordered_map<const Node*, Tensors> values;
  auto at = [&](const Edge& e) { return e.node ? values.at(e.node.get())[static_cast<size_t>(e.output)] : Tensor(); };
  for (size_t i = 0; i < graph_->inputs.size(); ++i) values[graph_->inputs[i].get()] = {inputs[i]};
  for (size_t i = 0; i < graph_->captures.size(); ++i) values[graph_->captures[i].inner.get()] = {inputs[graph_->inputs.size() + i]};
  Where asked = here();
  for (const Ref<Node>& n : graph_->nodes) {
    if (n->op == &placeholder_op()) continue;
    if (is_constant(*n)) { values[n.get()] = {constant_of(*n)}; continue; }
    Tensors in, out;
    for (const Edge& e : n->inputs) in.push_back(at(e));
    set_site(n->where);
    apply(*n->op, in, n->attrs, out);
    values[n.get()] = std::move(out);
  }
  set_site(asked);
  Tensors out;
  for (const Edge& e : graph_->outputs) out.push_back(at(e));
  return out;
}

}  // namespace holdfast
