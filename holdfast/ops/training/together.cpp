#include "holdfast/ops/training/together.h"

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/training/rule.h"

namespace holdfast::train {
namespace {

struct TogetherAttrs {
  Attr<std::string> rule;
  Attr<bool> flag;
};

// One call after the other.
struct Calls {
  const OpDef& op;
  Attrs attrs;
  std::vector<Tensors> inputs;

  template <class C>
  Calls(const C& c, auto&& input) : op(*find_op(c.template attrs<TogetherAttrs>().rule())) {
    attrs.push_back(Arg(false));  // use_locking
    if (op.attrs.size() > 1) attrs.push_back(Arg(c.template attrs<TogetherAttrs>().flag()));
    int each = static_cast<int>(op.inputs.size());
    for (int i = 0; i < c.inputs(); ++i) {
      if (i % each == 0) inputs.emplace_back();
      inputs.back().push_back(input(i));
    }
  }
};

void infer_together(Infer& s) {
  std::string rule = s.attrs<TogetherAttrs>().rule();
  const OpDef* op = find_op(rule);
  if (!op || !variables_of_rule(*op)) s.bad_value("rule", rule, "an op that moves variables");
  auto each = static_cast<int>(op->inputs.size());
  if (s.inputs() % each) s.bad_value("inputs", "a part of a call", "those of whole calls");
  if (int held = s.inputs() / each * variables_of_rule(*op); held > kMostTogether)
    s.bad_value("inputs", cat(held, " variables"), cat("at most ", kMostTogether));
  Calls calls(s, [&](int i) { return s.input(i); });
  for (const Tensors& in : calls.inputs) {
    check_signature(calls.op, in);
    Infer one(calls.op, in, calls.attrs);
    calls.op.infer(one);
  }
}

Status run_together(Call& c) {
  Calls calls(c, [&](int i) { return c.in(i); });
  std::vector<Infer> gives;
  std::vector<Call> all;
  gives.reserve(calls.inputs.size());
  Tensors none;
  for (const Tensors& in : calls.inputs) {
    gives.emplace_back(calls.op, in, calls.attrs);
    all.emplace_back(calls.op, in, calls.attrs, gives.back(), c.device, none);
  }
  return move_together(all, rule_of(calls.op));
}

const Op together =
    RAW_OP(MoveTogether)
        .inputs("var: R, operands: any*")
        .resource(VariableState::kKind)
        .dtypes(kPlain | DTypes{DType::kResource}, "any")
        .attr("rule")
        .attr("flag", false)
        .attrs<&TogetherAttrs::rule, &TogetherAttrs::flag>()
        .doc("Moves several variables by one rule. Graphs hold it after they were optimised.")
        .stateful()
        .no_gradient()
        .outputs("")
        .infer(infer_together)
        .kernel("in place", run_together);

}  // namespace

const OpDef& together_op() { return together.def(); }

Attrs together_attrs(const OpDef& op, const Attrs& attrs) {
  return {Arg(op.name), attrs.size() > 1 ? attrs.back() : Arg(false)};
}

int variables_of_rule(const OpDef& op) {
  if (!rule_of(op)) return 0;
  Parts p(op);
  return p.indices < 0 ? p.cells : 0;
}

}  // namespace holdfast::train
