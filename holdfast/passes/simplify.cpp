#include "holdfast/passes/simplify.h"

#include "holdfast/base/text.h"
#include "holdfast/passes/passes.h"

namespace holdfast {

bool apply_rules(Graph& g, std::span<const NamedRule> rules) {
  std::unordered_map<const OpDef*, std::vector<Rule>> by_op;
  for (const NamedRule& r : rules) {
    const OpDef* op = find_op(r.op);
    if (!op) bug(cat("a rule is for ", r.op, ", which is no op"));
    by_op[op].push_back(r.rule);
  }
  Rewriter rewriter(g);
  return rewriter.walk([&](const Ref<Node>& n) {
    auto it = by_op.find(n->op);
    if (it == by_op.end() || !n->after.empty() || rewriter.uses(*n) == 0) return;
    for (Rule rule : it->second) {
      if (rewriter.replaced(*n)) return;
      rule(rewriter, n);
    }
  });
}

bool simplify(Graph& g) {
  bool changed = false;
  for (auto rules : {arithmetic_rules(), shape_rules(), broadcast_rules()})
    changed = apply_rules(g, rules) || changed;
  return changed;
}

bool relax(Graph& g) { return apply_rules(g, relaxed_rules()); }

bool transposes(Graph& g) { return apply_rules(g, transpose_rules()); }

}  // namespace holdfast
