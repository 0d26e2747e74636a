#include "holdfast/passes/elementwise_expr.h"

namespace holdfast {

std::optional<FusedForm> elementwise_form(const Node& n) {
  InlineVector<DType, 4> in;
  for (const Edge& e : n.inputs) {
    if (!e.node) return std::nullopt;
    in.push_back(type_of(e).dtype);
  }
  const char* why = nullptr;
  return n.outputs.size() == 1 ? fused_form(*n.op, n.attrs, in, n.outputs[0].dtype, why)
                               : std::nullopt;
}

Ref<Expr> elementwise_expr(const Node& n) {
  auto form = elementwise_form(n);
  if (!form) return nullptr;
  auto out = make_ref<Expr>();
  InlineVector<int, 4> operands;
  for (const Edge& e : n.inputs) operands.push_back(out->input(type_of(e).dtype));
  out->store(out->add(*n.op, n.attrs, n.where, *form, operands, n.outputs[0].dtype));
  return out;
}

Ref<Expr> expression_of(const Node& n) {
  if (n.op == &fused_op())
    return n.outputs.size() == 1 && !expr_of(n.attrs).row()
               ? Ref<Expr>(const_cast<Expr*>(&expr_of(n.attrs)))
               : nullptr;
  return elementwise_expr(n);
}

}  // namespace holdfast
