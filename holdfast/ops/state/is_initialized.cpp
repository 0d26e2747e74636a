// Whether a variable has a value already.
#include "holdfast/op/op.h"
#include "holdfast/ops/state.h"

namespace holdfast {
namespace {

void infer(Infer& s) {
  variable_state(s.input(0));  // refuses what is no variable's handle
  s.output(DType::kBool, Shape{});
}

Status run(Call& c) {
  *c.out().mutable_raw<bool>() = variable_state(c.in())->get().defined();
  return {};
}

const Op op = RAW_OP(VarIsInitializedOp)
                  .doc("Whether a variable has a value; asking gives it none.")
                  .inputs("resource: R")
                  .outputs("is_initialized")
                  .resource(VariableState::kKind)
                  .reads_state()
                  .asks_only()
                  .no_gradient()
                  .infer(infer)
                  .kernel("look", run);

}  // namespace

Tensor is_initialized(const Variable& variable) { return op({variable.handle()}); }

}  // namespace holdfast
