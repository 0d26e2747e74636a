#include "holdfast/passes/effects.h"

#include <algorithm>

#include "holdfast/graph/bodies.h"

namespace holdfast {
namespace {

template <class F>
bool any_inside(const Node& n, F&& f) {
  for (const Graph* g : bodies_of(n))
    if (std::any_of(g->nodes.begin(), g->nodes.end(),
                    [&](const Ref<Node>& inner) { return f(*inner); }))
      return true;
  return false;
}

}  // namespace

std::vector<const Graph*> bodies_of(const Node& n) {
  std::vector<const Graph*> out;
  for (const Arg& a : n.attrs)
    if (auto* g = body_in(a)) out.push_back(g);
  return out;
}

bool has_effects(const Node& n) { return n.op->traits.stateful || any_inside(n, has_effects); }

bool reads_state(const Node& n) { return n.op->traits.reads || any_inside(n, reads_state); }

bool is_pure(const Node& n) {
  if (n.op == &placeholder_op() || !n.after.empty() || has_effects(n) || reads_state(n))
    return false;
  // What an object does, only its op knows.
  return std::none_of(n.attrs.begin(), n.attrs.end(), [](const Arg& a) {
    return std::holds_alternative<Ref<RefCounted>>(a.value());
  });
}

}  // namespace holdfast
