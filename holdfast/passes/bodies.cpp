// Branches and loops compute only what somebody uses: results that nobody looks at are taken out of
// their bodies, and with them what the bodies captured for those alone.
#include "holdfast/graph/bodies.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "holdfast/op/op.h"
#include "holdfast/passes/effects.h"
#include "holdfast/passes/passes.h"
#include "holdfast/passes/rewrite.h"

namespace holdfast {
namespace {

using Used = std::set<std::pair<const Node*, int>>;

Used used_outputs(const Graph& g) {
  Used out;
  for (const Ref<Node>& n : g.nodes)
    for (const Edge& e : n->inputs)
      if (e.node) out.emplace(e.node.get(), e.output);
  for (const Edge& e : g.outputs)
    if (e.node) out.emplace(e.node.get(), e.output);
  return out;
}

template <class List>
List kept(const List& list, const std::vector<bool>& keep) {
  List out;
  for (size_t i = 0; i < list.size(); ++i)
    if (keep[i]) out.push_back(list[i]);
  return out;
}

// A copy of `body` without what it no longer needs; appends the operands of `n`, from `at` on, that
// its captures get.
Ref<Graph> trimmed(const Graph& body, const std::vector<bool>* inputs,
                   const std::vector<bool>* outputs, const Node& n, size_t at,
                   InlineVector<Edge, 3>& operands) {
  Ref<Graph> g = clone(body);
  if (inputs) g->inputs = kept(g->inputs, *inputs);
  if (outputs) g->outputs = kept(g->outputs, *outputs);
  drop_dead(*g);
  Used used = used_outputs(*g);
  std::vector<Capture> captures;
  for (size_t i = 0; i < g->captures.size(); ++i) {
    if (!used.count({g->captures[i].inner.get(), 0})) continue;
    captures.push_back(g->captures[i]);
    operands.push_back(n.inputs[at + i]);
  }
  g->captures = std::move(captures);
  drop_dead(*g);
  return g;
}

Arg as_arg(const Ref<Graph>& g) { return Arg(Ref<RefCounted>(g)); }

// Puts a node with smaller bodies in the place of the one in hand, whose effects must not happen
// twice.
void hand_over(Rewriter& r, const Ref<Node>& n, const std::vector<bool>& keep,
               InlineVector<Edge, 3> operands, Attrs attrs) {
  Edge made = r.add(*n->op, std::move(operands), std::move(attrs));
  int to = 0;
  for (size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) r.replace({made.node, to++}, static_cast<int>(i));
  made.node->after = n->after;
  r.leave(made.node);
}

// If(condition, captures of the one..., captures of the other...)
void trim_branches(Rewriter& r, const Ref<Node>& n, const std::vector<bool>& keep) {
  auto [then, otherwise] = bodies_in(*n->op, n->attrs);
  InlineVector<Edge, 3> operands{n->inputs[0]};
  Ref<Graph> a = trimmed(then, nullptr, &keep, *n, 1, operands);
  Ref<Graph> b = trimmed(otherwise, nullptr, &keep, *n, 1 + then.captures.size(), operands);
  hand_over(r, n, keep, std::move(operands), {as_arg(a), as_arg(b)});
}

// The inputs of `g` that its effects, and the outputs in `keep`, are computed from.
void mark_needed(const Graph& g, const std::vector<bool>* keep, std::vector<bool>& inputs) {
  std::unordered_set<const Node*> needed;
  for (size_t i = 0; i < g.outputs.size(); ++i)
    if (g.outputs[i].node && (!keep || (*keep)[i])) needed.insert(g.outputs[i].node.get());
  for (size_t i = g.nodes.size(); i-- > 0;) {
    const Node& n = *g.nodes[i];
    if (has_effects(n)) needed.insert(&n);
    if (!needed.count(&n)) continue;
    for (const Edge& e : n.inputs)
      if (e.node) needed.insert(e.node.get());
    for (const Ref<Node>& b : n.after) needed.insert(b.get());
  }
  for (size_t i = 0; i < g.inputs.size(); ++i)
    if (needed.count(g.inputs[i].get())) inputs[i] = true;
}

// While(variables..., captures of the condition..., captures of the body...): a variable stays if
// it is used after the loop, or if the condition, an effect or another one that stays is computed
// from it.
void trim_loop(Rewriter& r, const Ref<Node>& n, std::vector<bool> keep) {
  auto [test, body] = bodies_in(*n->op, n->attrs);
  mark_needed(test, nullptr, keep);
  for (std::vector<bool> before; before != keep;) {
    before = keep;
    mark_needed(body, &before, keep);
  }
  if (std::find(keep.begin(), keep.end(), false) == keep.end()) return;
  InlineVector<Edge, 3> operands;
  for (size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) operands.push_back(n->inputs[i]);
  Ref<Graph> a = trimmed(test, &keep, nullptr, *n, keep.size(), operands);
  Ref<Graph> b = trimmed(body, &keep, &keep, *n, keep.size() + test.captures.size(), operands);
  hand_over(r, n, keep, std::move(operands), {as_arg(a), as_arg(b)});
}

}  // namespace

bool bodies(Graph& g) {
  Used used = used_outputs(g);
  Rewriter r(g);
  return r.walk([&](const Ref<Node>& n) {
    Control control = n->op->traits.control;
    if (control == Control::kNone || !n->after.empty()) return;
    std::vector<bool> keep;
    for (size_t i = 0; i < n->outputs.size(); ++i)
      keep.push_back(used.count({n.get(), static_cast<int>(i)}) != 0);
    if (std::find(keep.begin(), keep.end(), false) == keep.end()) return;
    if (std::find(keep.begin(), keep.end(), true) == keep.end() && !has_effects(*n))
      return;  // drop_dead's
    control == Control::kBranch ? trim_branches(r, n, keep) : trim_loop(r, n, std::move(keep));
  });
}

}  // namespace holdfast
