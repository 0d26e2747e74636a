#include "holdfast/exec/control_ops.h"

#include <mutex>

#include "holdfast/base/interrupt.h"
#include "holdfast/base/patient_lock.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/control.h"
#include "holdfast/exec/plan.h"

namespace holdfast {
namespace {

constexpr DTypes kAnything = kAll | DTypes{DType::kResource, DType::kVariant};

void infer_if(Infer& s) {
  auto [a, b] = bodies_in(s.op(), s.attrs());
  if (a.outputs.size() != b.outputs.size())
    s.bad_value("else_branch", cat("a graph of ", b.outputs.size(), " results"),
                cat("one of ", a.outputs.size(), ", as then_branch"));
  if (static_cast<size_t>(s.inputs()) != 1 + a.captures.size() + b.captures.size())
    s.bad_value(
        "input", cat(s.inputs() - 1, " tensors"),
        cat(a.captures.size() + b.captures.size(), ", one for each capture of the branches"));
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    // What one side does not give, only that side's own gradient looks at.
    const Edge& given = a.outputs[i].node ? a.outputs[i] : b.outputs[i];
    if (!given.node) {
      s.output(float32, Shape::unknown());
      continue;
    }
    Shape shape = type_of(given).shape;
    if (b.outputs[i].node) shape = widened(shape, type_of(b.outputs[i]).shape);
    s.output(type_of(given).dtype, shape);
  }
}

void infer_while(Infer& s) {
  auto [test, body] = bodies_in(s.op(), s.attrs());
  size_t needed = body.inputs.size() + test.captures.size() + body.captures.size();
  if (test.inputs.size() != body.inputs.size() || body.outputs.size() != body.inputs.size() ||
      test.outputs.size() != 1)
    s.bad_value("body", "a graph of other variables",
                "a condition and a body over the same variables");
  if (static_cast<size_t>(s.inputs()) != needed)
    s.bad_value("input", cat(s.inputs(), " tensors"), cat(needed));
  for (const Ref<Node>& n : body.inputs) s.output(n->outputs[0].dtype, n->outputs[0].shape);
}

void give(Call& c, Tensors& out) {
  for (size_t i = 0; i < out.size(); ++i) c.set_out(static_cast<int>(i), std::move(out[i]));
}

Status run_if(Call& c) {
  const Tensor& p = c.in();
  if (p.size() != 1)
    return {Code::E1102, cat("a condition has ", p.size(), " elements, expected one")};
  bool yes = copy_to(p, cpu()).item<bool>();
  auto [a, b] = bodies_in(c.op, c.attrs());
  size_t from = yes ? 1 : 1 + a.captures.size(), n = yes ? a.captures.size() : b.captures.size();
  Tensors in, out;
  for (size_t i = 0; i < n; ++i) in.push_back(c.in(static_cast<int>(from + i)));
  plan_of(yes ? a : b).run(in, out);
  give(c, out);
  return {};
}

Status run_while(Call& c) {
  auto [test, body] = bodies_in(c.op, c.attrs());
  const Plan &test_plan = plan_of(test), &body_plan = plan_of(body);
  size_t n = body.inputs.size();
  Tensors variables, around_test, around_body;
  for (size_t i = 0; i < n; ++i) variables.push_back(c.in(static_cast<int>(i)));
  for (size_t i = 0; i < test.captures.size(); ++i)
    around_test.push_back(c.in(static_cast<int>(n + i)));
  for (size_t i = 0; i < body.captures.size(); ++i)
    around_body.push_back(c.in(static_cast<int>(n + test.captures.size() + i)));
  for (;;) {
    Tensors in = variables, out;
    for (const Tensor& t : around_test) in.push_back(t);
    test_plan.run(in, out);
    in = Tensors();
    if (out[0].size() != 1)
      return {Code::E1102,
              cat("a loop's condition has ", out[0].size(), " elements, expected one")};
    if (!copy_to(out[0], cpu()).item<bool>()) break;
    for (const Tensor& t : around_body) variables.push_back(t);
    Tensors next;
    body_plan.run(std::move(variables), next);
    variables = std::move(next);
    check_interrupt();
  }
  give(c, variables);
  return {};
}

Builder& control(Builder& b, KernelFn run) {
  for (DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) b.kernel_for(kind, "graphs", run);
  return b.dtypes(kAnything, "any").dtypes(kBools, "C");
}

Builder& branches(Builder&& b) {
  return control(b.doc("Runs one of two graphs.")
                     .inputs("cond: C, input: any*?")
                     .outputs("")
                     .attr("then_branch")
                     .attr("else_branch")
                     .attrs<&BranchAttrs::then_branch, &BranchAttrs::else_branch>()
                     .control(Control::kBranch)
                     .infer(infer_if)
                     .gradient(if_gradient),
                 run_if);
}
Builder& loop(Builder&& b) {
  return control(b.doc("Runs a graph while another gives true.")
                     .inputs("input: any*?")
                     .outputs("")
                     .attr("cond")
                     .attr("body")
                     .attrs<&LoopAttrs::cond, &LoopAttrs::body>()
                     .control(Control::kLoop)
                     .infer(infer_while)
                     .gradient(while_gradient),
                 run_while);
}

const Op plain_if = branches(RAW_OP(StatelessIf)), stateful_if = branches(RAW_OP(If)).stateful();
const Op plain_while = loop(RAW_OP(StatelessWhile)),
         stateful_while = loop(RAW_OP(While)).stateful();

}  // namespace

const OpDef& if_op(bool stateful) { return (stateful ? stateful_if : plain_if).def(); }
const OpDef& while_op(bool stateful) { return (stateful ? stateful_while : plain_while).def(); }

bool has_effects(const Graph& g) {
  for (const Ref<Node>& n : g.nodes)
    if (n->op->traits.stateful) return true;
  return false;
}

Shape widened(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank() || !a.has_rank()) return Shape::unknown();
  Dims out;
  for (int i = 0; i < a.rank(); ++i) out.push_back(a[i] == b[i] ? a[i] : kUnknown);
  return Shape(out);
}

const Plan& plan_of(const Graph& body) {
  static std::recursive_mutex mutex;  // a body may hold loops of its own
  PatientLock lock(mutex);
  // A copy: a body that its own plan held would never go.
  if (!body.compiled) body.compiled = Plan::compile(clone(body));
  return *static_cast<Plan*>(body.compiled.get());
}

}  // namespace holdfast
