// Moves reshapes from before elementwise ops to after them, where that brings two elementwise ops
// together: joined, they run as one loop.
#include "holdfast/op/op.h"
#include "holdfast/ops/array/raw.h"
#include "holdfast/passes/passes.h"
#include "holdfast/passes/rewrite.h"

namespace holdfast {
namespace {

bool only_reshapes(const Node& n) {
  return n.op->traits.reshapes && n.after.empty() && numbers_known(n);
}

bool is_scalar(const Edge& e) {
  return type_of(e).shape.has_rank() && type_of(e).shape.rank() == 0;
}

// The shape that the operands had before they were all reshaped alike; null where that is not so,
// or where nothing elementwise waits there.
const Shape* common_source(Rewriter& r, const Node& n) {
  const Shape& to = n.outputs[0].shape;
  const Shape* from = nullptr;
  bool joins = false;
  for (const Edge& e : n.inputs) {
    if (!e.node) return nullptr;
    if (is_scalar(e) && to.rank() != 0) continue;
    if (!only_reshapes(*e.node) || r.uses(*e.node) != 1 || e.node->device != n.device ||
        !(type_of(e).shape == to))
      return nullptr;
    const Edge& source = e.node->inputs[0];
    if (!type_of(source).shape.is_full() || (from && !(*from == type_of(source).shape)))
      return nullptr;
    from = &type_of(source).shape;
    joins = joins || (source.node->op->elementwise && r.uses(*source.node) == 1);
  }
  return joins ? from : nullptr;
}

}  // namespace

bool reshapes(Graph& g) {
  Rewriter r(g);
  return r.walk([&](const Ref<Node>& n) {
    if (!n->op->elementwise || !n->after.empty() || n->outputs.size() != 1 ||
        !n->outputs[0].shape.is_full())
      return;
    const Shape* from = common_source(r, *n);
    if (!from || from->rank() == 0) return;  // a scalar source would broadcast with the others
    InlineVector<Edge, 3> inputs;
    for (const Edge& e : n->inputs) inputs.push_back(is_scalar(e) ? e : e.node->inputs[0]);
    Edge joined = r.add(*n->op, std::move(inputs), n->attrs);
    r.replace(r.add(raw::reshape(), {joined, r.ints(n->outputs[0].shape.dims(), int64)}));
  });
}

}  // namespace holdfast
