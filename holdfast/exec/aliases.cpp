#include "holdfast/exec/aliases.h"

#include "holdfast/graph/bodies.h"

namespace holdfast {
namespace {

// The input of a graph, counted with its captures, that it hands on as it is; -1: none.
int handed_on(const Graph& g, size_t output) {
  const Node* from = g.outputs[output].node.get();
  for (size_t i = 0; i < g.inputs.size(); ++i)
    if (g.inputs[i].get() == from) return static_cast<int>(i);
  for (size_t i = 0; i < g.captures.size(); ++i)
    if (g.captures[i].inner.get() == from) return static_cast<int>(g.inputs.size() + i);
  return -1;
}

// A loop hands on a variable that its body does not change. A branch gives what either of its
// graphs gives: the operand of both, or what nobody can tell.
int alias_of_bodies(const Node& n, size_t output) {
  auto [first, second] = bodies_in(*n.op, n.attrs);
  if (n.op->traits.control == Control::kLoop)
    return handed_on(second, output) == static_cast<int>(output) ? static_cast<int>(output)
                                                                 : kElsewhere;
  int a = handed_on(first, output), b = handed_on(second, output);
  if (a < 0 || b < 0) return kElsewhere;
  a += 1;
  b += 1 + static_cast<int>(first.captures.size());
  bool same = n.inputs[static_cast<size_t>(a)] == n.inputs[static_cast<size_t>(b)];
  return same ? a : kElsewhere;
}

}  // namespace

InlineVector<int, 2> aliases_of(const Step& s, const Ref<Scope>& scope) {
  const Node& n = *s.node;
  std::vector<Tensor> in;
  if (n.op->alias && s.types)
    for (const Edge& e : n.inputs) in.push_back(e.node ? symbol_for(e, scope) : Tensor());
  InlineVector<int, 2> out;
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    bool bodies = n.op->traits.control != Control::kNone;
    out.push_back(bodies                        ? alias_of_bodies(n, i)
                  : n.op->traits.reads          ? kElsewhere
                  : n.op->traits.view && i == 0 ? 0
                  : in.empty() ? kFresh
                               : n.op->alias(Types(*n.op, in, n.attrs, *s.types, s.device),
                                             static_cast<int>(i)));
  }
  return out;
}

}  // namespace holdfast
