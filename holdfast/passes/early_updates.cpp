// Updates of variables run as soon as what they need is there, so that gradients do not pile up
// until the last one is known.
#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "holdfast/op/op.h"
#include "holdfast/passes/elementwise_expr.h"
#include "holdfast/passes/passes.h"

namespace holdfast {
namespace {

// The handle of the one variable that `n` changes, and does nothing else; null for other nodes.
const Node* updated(const Node& n) {
  if (n.op->traits.update == Update::kNone) return nullptr;
  const Node* handle = n.inputs[0].node.get();
  return handle->op == &handle_op() ? handle : nullptr;
}

}  // namespace

bool early_updates(Graph& g) {
  auto at = [](int i) { return static_cast<size_t>(i); };
  std::unordered_map<const Node*, int> position;
  for (size_t i = 0; i < g.nodes.size(); ++i) position[g.nodes[i].get()] = static_cast<int>(i);
  // Updates, and elementwise nodes that only updates need.
  std::vector<bool> moves(g.nodes.size(), false), needed(g.nodes.size(), false);
  for (const Edge& e : g.outputs)
    if (e.node) needed[at(position.at(e.node.get()))] = true;
  bool any = false;
  for (size_t i = g.nodes.size(); i-- > 0;) {
    const Node& n = *g.nodes[i];
    moves[i] = updated(n) ? n.after.empty() : !needed[i] && n.after.empty() && elementwise_form(n);
    any = any || moves[i];
    for (const Ref<Node>& b : n.after) needed[at(position.at(b.get()))] = true;
    if (moves[i]) continue;
    for (const Edge& e : n.inputs)
      if (e.node) needed[at(position.at(e.node.get()))] = true;
  }
  if (!any) return false;
  // Each moves to right behind the last node that it, or somebody who reads its variable, needs.
  // Other effects are not passed: they may look at anything.
  std::vector<int> key(g.nodes.size());
  std::iota(key.begin(), key.end(), 0);
  std::unordered_map<const Node*, int>
      touched;  // by handle: the key of the last node that looks at its value
  std::unordered_map<const Node*, const Node*> read_of;
  int barrier = -1;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const Node& n = *g.nodes[i];
    const Node* handle = updated(n);
    if (is_constant(n) && n.after.empty()) {
      key[i] = -1;  // there from the beginning
    } else if (moves[i]) {
      key[i] = handle ? std::max(barrier, touched.count(handle) ? touched[handle] : -1) : -1;
      for (const Edge& e : n.inputs) key[i] = std::max(key[i], key[at(position.at(e.node.get()))]);
    } else if (n.op->traits.stateful) {
      barrier = static_cast<int>(i);
    }
    for (const Edge& e : n.inputs) {
      if (!e.node) continue;
      const Node* of = e.node->op == &handle_op()    ? e.node.get()
                       : read_of.count(e.node.get()) ? read_of[e.node.get()]
                                                     : nullptr;
      if (!of) continue;
      int& last = touched.try_emplace(of, -1).first->second;
      last = std::max(last, key[i]);
      if (n.op->traits.reads || n.op->traits.view) read_of[&n] = of;
    }
  }
  std::vector<size_t> order(g.nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return key[a] != key[b] ? key[a] < key[b] : moves[a] != moves[b] ? !moves[a] : a < b;
  });
  if (std::is_sorted(order.begin(), order.end())) return false;
  std::vector<Ref<Node>> nodes;
  for (size_t i : order) nodes.push_back(g.nodes[i]);
  g.nodes = std::move(nodes);
  return true;
}

}  // namespace holdfast
