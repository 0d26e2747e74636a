// Changing a variable by an expression, in place where nobody else looks at its value.
#include "holdfast/base/text.h"
#include "holdfast/expr/cpu_program.h"
#include "holdfast/expr/op_by_op.h"
#include "holdfast/op/op.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

void infer_update(Infer& s) {
  const Expr& e = expr_of(s.attrs());
  if (static_cast<size_t>(s.inputs()) != e.inputs())
    s.bad_value("inputs", cat(s.inputs() - 1, " tensors"), cat(e.inputs() - 1));
  variable_state(s.input(0));
}

// Whether the variable alone holds its value, so that nobody sees it change.
bool alone(const Tensor& t) {
  return t.rep()->unique() && t.rep()->buffer->unique() && t.rep()->buffer->writable();
}

Status run_update(Call& c) {
  const Expr& e = expr_of(c.attrs());
  return variable_state(c.in())->update([&](Tensor& now) -> Status {
    if (!now.defined())
      return {Code::E1103, cat("variable `", variable_state(c.in())->name, "` has no value yet")};
    bool in_place = alone(now), on_host = now.device()->kind() == DeviceKind::kCpu;
    Tensors in, out;
    for (int i = 1; i < c.inputs(); ++i) {
      in.push_back(c.in(i));
      on_host = on_host && c.in(i).device()->kind() == DeviceKind::kCpu;
    }
    in.push_back(now);
    if (!on_host) {
      e.run_each(in, out);
      now = copy_to(out[0], now.device());
      return {};
    }
    Tensor fresh = in_place ? now : empty(now.dtype(), now.shape(), now.device());
    cpu_program(e).run(in, {&fresh, 1}, fresh.shape());
    now = fresh;
    return {};
  });
}

const Op update =
    RAW_OP(FusedUpdate)
        .inputs("resource: R, inputs: any*~")
        .attr("expression")
        .resource(VariableState::kKind)
        .dtypes(kPlain, "any")
        .doc("Changes a variable by an expression. Graphs hold it after they were optimised.")
        .stateful()
        .no_gradient()
        .outputs("")
        .infer(infer_update)
        .kernel("blocks", run_update)
        .kernel_for(DeviceKind::kCuda, kOpByOp, run_update);

}  // namespace

const OpDef& fused_update_op() { return update.def(); }

}  // namespace holdfast
