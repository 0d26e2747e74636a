// Draws random numbers inside the loop that reads them, so that they never lie in memory.
#include "holdfast/ops/random/fused_draw.h"
#include "holdfast/passes/elementwise_expr.h"
#include "holdfast/passes/order.h"
#include "holdfast/passes/passes.h"

namespace holdfast {
namespace {

constexpr int64_t kLeastBytes = 64 << 10;  // fewer numbers are in a cache anyway

// The expression of a node that runs over one shape; null for others.
Ref<Expr> expression_over(const Node& n, const Shape& shape) {
  for (const Type& t : n.outputs)
    if (t.shape != shape) return nullptr;
  if (n.op != &fused_op()) return elementwise_expr(n);
  const Expr& e = expr_of(n.attrs);
  return e.row() ? nullptr : Ref<Expr>(const_cast<Expr*>(&e));
}

}  // namespace

bool fuse_draws(Graph& g) {
  auto uses = uses_of(g);
  bool changed = false;
  for (const Ref<Node>& n : g.nodes) {
    for (size_t i = 0; i < n->inputs.size(); ++i) {
      Node* drawn = n->inputs[i].node.get();
      const random::InsideLoops* how = drawn ? random::inside_loops(*drawn->op) : nullptr;
      if (!how || uses[drawn] != 1 || drawn->device != n->device) continue;
      const Type numbers = drawn->outputs[0];
      if (!numbers.shape.is_full() || numbers.shape.size() * size_of(numbers.dtype) < kLeastBytes)
        continue;
      Ref<Expr> e = expression_over(*n, numbers.shape);
      if (!e) continue;
      // Both are changed as they stand: the one keeps its stream and its place among effects, and
      // whoever waits for the other still does.
      n->attrs = random::fused_draw_attrs(std::move(e), i, how->numbers, numbers.shape);
      n->op = &random::fused_draw_op();
      InlineVector<Edge, 3> inputs;
      for (int k : how->inputs) inputs.push_back(drawn->inputs[static_cast<size_t>(k)]);
      drawn->inputs = std::move(inputs);
      drawn->attrs = Attrs(drawn->attrs.begin(), drawn->attrs.begin() + how->attrs);
      drawn->op = how->stream;
      drawn->outputs[0] = {DType::kUInt64, Shape{3}};
      changed = true;
      break;
    }
  }
  return changed;
}

}  // namespace holdfast
