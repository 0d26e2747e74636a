// Values that are repeated before an op which repeats its operands itself.
#include "holdfast/passes/simplify.h"

namespace holdfast {
namespace {

// What is repeated, where `e` only repeats something; else `e`.
Edge before_repeating(const Edge& e, const Node& reader) {
  static const OpDef* broadcast_to = find_op("BroadcastTo");
  const Node& n = *e.node;
  bool repeats = n.op == broadcast_to && n.after.empty() && n.device == reader.device &&
                 numbers_known(n) && n.outputs[0].shape.is_full() &&
                 type_of(n.inputs[0]).shape.is_full();
  return repeats ? n.inputs[0] : e;
}

// Elements are the same, whoever repeats them. Where nothing else has the shape of the result, the
// op runs over fewer of them, and its result is repeated: whoever reads that may do it itself.
void rule_repeat_late(Rewriter& r, const Ref<Node>& n) {
  const Shape& out = n->outputs[0].shape;
  if (!out.is_full() || out.size() == 0) return;  // what is repeated 0 times may be refused
  InlineVector<Edge, 3> inputs;
  bool any = false;
  std::optional<Shape> all = Shape{};
  for (const Edge& e : n->inputs) {
    inputs.push_back(before_repeating(e, *n));
    any = any || !(inputs.back() == e);
    if (all) all = broadcast(*all, type_of(inputs.back()).shape);
  }
  if (!any || !all || !all->is_full()) return;
  Edge y = r.add(*n->op, std::move(inputs), n->attrs);
  r.replace(*all == out ? y : r.add("BroadcastTo", {y, r.ints(out.dims(), int64)}));
}

constexpr NamedRule kRules[] = {
    {"Add", rule_repeat_late},          {"AddV2", rule_repeat_late},
    {"Sub", rule_repeat_late},          {"Mul", rule_repeat_late},
    {"RealDiv", rule_repeat_late},      {"DivNoNan", rule_repeat_late},
    {"MulNoNan", rule_repeat_late},     {"Maximum", rule_repeat_late},
    {"Minimum", rule_repeat_late},      {"SquaredDifference", rule_repeat_late},
    {"Pow", rule_repeat_late},          {"Less", rule_repeat_late},
    {"LessEqual", rule_repeat_late},    {"Greater", rule_repeat_late},
    {"GreaterEqual", rule_repeat_late}, {"SelectV2", rule_repeat_late},
    {"Neg", rule_repeat_late},          {"Cast", rule_repeat_late},
};

}  // namespace

std::span<const NamedRule> broadcast_rules() { return kRules; }

}  // namespace holdfast
