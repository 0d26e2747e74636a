// Adds to variables inside the loop that computes what is added.
#include <algorithm>
#include <unordered_set>

#include "holdfast/op/op.h"
#include "holdfast/ops/array/raw.h"
#include "holdfast/passes/elementwise_expr.h"
#include "holdfast/passes/order.h"
#include "holdfast/passes/passes.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

// The elementwise op behind an update, null for other nodes.
const OpDef* operation(const Node& n) {
  switch (n.op->traits.update) {
    case Update::kAdd: return &raw::add();
    case Update::kSubtract: return &raw::subtract();
    default: return nullptr;
  }
}

bool has_shape(const Node& handle, const Type& t) {
  auto* v = handle.op == &handle_op() ? variable_behind(constant_of(handle)) : nullptr;
  return v && v->dtype == t.dtype && t.shape.is_full() && v->shape == t.shape &&
         loop_for(Scalar::kAdd, t.dtype);
}

}  // namespace

bool fuse_updates(Graph& g) {
  auto uses = uses_of(g);
  std::unordered_set<const Node*> gone;
  for (Ref<Node>& n : g.nodes) {
    const OpDef* op = operation(*n);
    if (!op || !n->inputs[1].node || uses[n->inputs[1].node.get()] != 1) continue;
    const Node& value = *n->inputs[1].node;
    if (!value.after.empty() || value.device != n->device ||
        !has_shape(*n->inputs[0].node, type_of(n->inputs[1])))
      continue;
    Ref<Expr> expr = expression_of(value);
    if (!expr) continue;
    // Changed as it stands, so that whoever runs after it still does.
    Edge handle = n->inputs[0];
    InlineVector<Edge, 3> inputs{handle};
    inputs.append(value.inputs.begin(), value.inputs.end());
    gone.insert(&value);
    n->attrs = Attrs{Arg(Ref<RefCounted>(expr->applied(*op, n->where)))};
    n->op = &fused_update_op();
    n->inputs = std::move(inputs);
  }
  if (gone.empty()) return false;
  g.nodes.erase(std::remove_if(g.nodes.begin(), g.nodes.end(),
                               [&](const Ref<Node>& n) { return gone.count(n.get()); }),
                g.nodes.end());
  return true;
}

}  // namespace holdfast
