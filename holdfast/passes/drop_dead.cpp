#include <algorithm>
#include <unordered_set>

#include "holdfast/passes/effects.h"
#include "holdfast/passes/passes.h"

namespace holdfast {

bool drop_dead(Graph& g) {
  std::unordered_set<const Node*> needed;
  auto need = [&](const Node* n) { needed.insert(n); };
  for (const Edge& e : g.outputs)
    if (e.node) need(e.node.get());
  for (const Ref<Node>& n : g.inputs) need(n.get());
  for (const Capture& c : g.captures) need(c.inner.get());
  for (size_t i = g.nodes.size(); i-- > 0;) {
    const Node& n = *g.nodes[i];
    if (has_effects(n)) need(&n);
    if (!needed.count(&n)) continue;
    for (const Edge& e : n.inputs)
      if (e.node) need(e.node.get());
    for (const Ref<Node>& before : n.after) need(before.get());
  }
  size_t before = g.nodes.size();
  g.nodes.erase(std::remove_if(g.nodes.begin(), g.nodes.end(),
                               [&](const Ref<Node>& n) { return !needed.count(n.get()); }),
                g.nodes.end());
  return g.nodes.size() != before;
}

}  // namespace holdfast
