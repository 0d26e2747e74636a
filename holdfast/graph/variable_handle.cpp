// Variables by hand, as `tf.raw_ops.VarHandleOp` makes them: without a value to begin with.
#include "holdfast/graph/variable_handle.h"

#include "holdfast/base/text.h"
#include "holdfast/graph/open_graph.h"
#include "holdfast/op/function.h"

namespace holdfast {
namespace {

// The name by which TensorFlow asks for a variable that shares its value with no other.
constexpr const char* kAnonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

[[noreturn]] void not_part(const std::string& option, const std::string& why) {
  fail(Code::E1105, cat("VarHandleOp: `", option, "` is not supported"), why,
       {manual_fix(cat("leave `", option, "` out"))});
}

// The variable of the graph that has this name, if there is one.
Tensor shared_in(const OpenGraph& graph, const std::string& name, DType dtype, const Shape& shape) {
  for (const OpenGraph::Held& held : graph.variables()) {
    if (held.variable.name() != name) continue;
    if (held.variable.dtype() != dtype || !held.variable.shape().compatible(shape))
      fail(Code::E1102, cat("VarHandleOp: variable `", name, "` is ", holdfast::name(dtype),
                            shape.text(), " here, and ", holdfast::name(held.variable.dtype()),
                            held.variable.shape().text(), " where it was made"));
    return held.variable.handle();
  }
  return {};
}

}  // namespace

REGISTER(FUNCTION(&variable_handle)
             .args("dtype, shape")
             .options<&VariableHandleOptions::container, &VariableHandleOptions::shared_name,
                      &VariableHandleOptions::debug_name, &VariableHandleOptions::allowed_devices>(
                 "container, shared_name, debug_name, allowed_devices")
             .python("raw_ops.VarHandleOp")
             .doc("The handle of a new variable, which has no value before one is assigned."));
Tensor variable_handle(DType dtype, const Shape& shape, const VariableHandleOptions& o) {
  if (!o.container.empty()) not_part("container", "variables live as long as somebody uses them");
  if (!o.allowed_devices.empty()) not_part("allowed_devices", "a value lives where it was made");
  if (dtype == DType::kInvalid || dtype == DType::kResource || dtype == DType::kVariant)
    fail(Code::E1101, "VarHandleOp: `dtype` is not one that variables have");
  bool shared = !o.shared_name.empty() && o.shared_name != kAnonymous;
  std::string name = shared ? o.shared_name : o.debug_name.empty() ? "VarHandleOp" : o.debug_name;
  if (OpenGraph* graph = current_graph()) {
    Tensor there = shared ? shared_in(*graph, name, dtype, shape) : Tensor();
    return there.defined() ? there : graph->bare_variable(dtype, shape, name).handle();
  }
  if (shared) not_part("shared_name", "outside of a graph a variable is known by its handle alone");
  auto state = make_ref<VariableState>(name, dtype, shape, false);
  state->born = here();
  return Variable(std::move(state)).handle();
}

}  // namespace holdfast
