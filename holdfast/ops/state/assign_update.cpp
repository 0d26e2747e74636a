// Adding to a variable, in place where nobody else looks at its value.
#include "holdfast/base/text.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/kernel.h"
#include "holdfast/op/op.h"
#include "holdfast/op/variable.h"
#include "holdfast/ops/state/held.h"

namespace holdfast {
namespace {

void infer_update(Infer& s) {
  VariableState* v = variable_state(s.input(0));
  if (s.dtype(1) != v->dtype)
    s.bad_dtype(1, cat(name(v->dtype), ", the dtype of variable `", v->name, "`"));
  auto both = broadcast(v->shape, s.shape(1));
  if (!both || !both->compatible(v->shape))
    s.bad_shape(1, cat("one that broadcasts to `", held_name(s, *v), "` ", v->shape.text()));
}

// Whether the variable alone holds its value, so that nobody sees it change.
bool alone(const Tensor& t) {
  return t.rep()->unique() && t.rep()->buffer->unique() && t.rep()->buffer->writable();
}

Status update(Call& c, const OpDef& op) {
  return variable_state(c.in())->update([&](Tensor& now) -> Status {
    if (!now.defined()) return no_value(*variable_state(c.in()));
    const Tensor& delta = c.in(1);
    bool on_host =
        now.device()->kind() == DeviceKind::kCpu && delta.device()->kind() == DeviceKind::kCpu;
    auto shape = broadcast(now.shape(), delta.shape());
    // A variable of a loose shape says only now what its shape is.
    if (!shape || *shape != now.shape())
      return {Code::E1102, cat(c.op.name, ": `value` has shape ", delta.shape().text(), ", `",
                               variable_state(c.in())->name, "` ", now.shape().text())};
    bool in_place = on_host && alone(now);
    Tensor both[2] = {now, delta};
    if (Loop loop = in_place ? loop_for(op.scalar, now.dtype()) : nullptr) {
      run_broadcast(loop, both, now);
      return {};
    }
    Tensors out;
    if (Status s = run_kernel(op, both, {}, now.device(), out); !s.ok()) return s;
    now = out[0];
    return {};
  });
}

Status run_add(Call& c) {
  static const OpDef& op = *find_op("AddV2");
  return update(c, op);
}
Status run_subtract(Call& c) {
  static const OpDef& op = *find_op("Sub");
  return update(c, op);
}

Builder& described(Builder& b) {
  return b.inputs("resource: R, value")
      .resource(VariableState::kKind)
      .dtypes(kNumbers)
      .stateful()
      .no_gradient()
      .outputs("")
      .infer(infer_update);
}

const Op add_op = described(RAW_OP(AssignAddVariableOp).doc("Adds to the value of a variable."))
                      .updates(Update::kAdd)
                      .kernel("add", run_add)
                      .kernel_for(DeviceKind::kCuda, "add", run_add);
const Op sub_op =
    described(RAW_OP(AssignSubVariableOp).doc("Subtracts from the value of a variable."))
        .updates(Update::kSubtract)
        .kernel("subtract", run_subtract)
        .kernel_for(DeviceKind::kCuda, "subtract", run_subtract);

}  // namespace

const Variable& Variable::assign_add(const In& delta) const {
  add_op(handle(), delta.tensor(dtype()));
  return *this;
}
const Variable& Variable::assign_sub(const In& delta) const {
  sub_op(handle(), delta.tensor(dtype()));
  return *this;
}

}  // namespace holdfast
