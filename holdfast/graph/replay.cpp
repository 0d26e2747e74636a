#include <unordered_map>

#include "holdfast/graph/graph.h"

namespace holdfast {

Tensors replay(const Graph& g, std::span<const Tensor> inputs) {
  std::unordered_map<const Node*, Tensors> values;
  auto at = [&](const Edge& e) {
    return e.node ? values.at(e.node.get())[static_cast<size_t>(e.output)] : Tensor();
  };
  for (size_t i = 0; i < g.inputs.size(); ++i) values[g.inputs[i].get()] = {inputs[i]};
  for (size_t i = 0; i < g.captures.size(); ++i)
    values[g.captures[i].inner.get()] = {inputs[g.inputs.size() + i]};
  Where asked = here();
  for (const Ref<Node>& n : g.nodes) {
    if (n->op == &placeholder_op()) continue;
    if (is_constant(*n)) {
      // A graph has handles that may not outlive it; written into another one they are the
      // variable's own.
      Resource* variable = context().interpreter && n->op == &handle_op()
                               ? resource_behind(constant_of(*n))
                               : nullptr;
      values[n.get()] = {variable ? variable->handle() : constant_of(*n)};
      continue;
    }
    Tensors in, out;
    for (const Edge& e : n->inputs) in.push_back(at(e));
    set_site(n->where);
    apply(*n->op, in, n->attrs, out);
    values[n.get()] = std::move(out);
  }
  set_site(asked);
  Tensors out;
  for (const Edge& e : g.outputs) out.push_back(at(e));
  return out;
}

}  // namespace holdfast
