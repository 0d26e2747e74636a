// Variables by hand, as `tf.raw_ops.VarHandleOp` makes them: without a value to begin with.
#include "holdfast/graph/variable_handle.h"

#include "holdfast/base/text.h"
#include "holdfast/graph/open_graph.h"
#include "holdfast/op/function.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

// The name by which TensorFlow asks for a variable that shares its value with no other.
constexpr const char* kAnonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

[[noreturn]] void not_part(const std::string& option, const std::string& why) {
  fail(Code::E1105, cat("VarHandleOp: `", option, "` is not supported"), why,
       {manual_fix(cat("leave `", option, "` out"))});
}

// The variable that has this name in the graph's container, if there is one.
Tensor shared_in(const OpenGraph& graph, const std::string& name, DType dtype, const Shape& shape) {
  for (const OpenGraph::Held& held : graph.variables()) {
    if (held.shared_name != name || held.container != graph.container()) continue;
    if (held.variable.dtype() != dtype || !held.variable.shape().compatible(shape))
      fail(Code::E1102, cat("VarHandleOp: variable `", name, "` is ", holdfast::name(dtype),
                            shape.text(), " here, and ", holdfast::name(held.variable.dtype()),
                            held.variable.shape().text(), " where it was made"));
    return held.variable.handle();
  }
  return {};
}

// A container is the graph's for a while.
struct InContainer {
  InContainer(OpenGraph& g, std::string name)
      : graph(g), before(g.set_container(std::move(name))) {}
  ~InContainer() { graph.set_container(std::move(before)); }
  OpenGraph& graph;
  std::string before;
};

}  // namespace

REGISTER(FUNCTION(&variable_handle)
             .args("dtype, shape")
             .options<&VariableHandleOptions::container, &VariableHandleOptions::shared_name,
                      &VariableHandleOptions::debug_name, &VariableHandleOptions::allowed_devices>(
                 "container, shared_name, debug_name, allowed_devices")
             .python("raw_ops.VarHandleOp")
             .doc("The handle of a new variable, which has no value before one is assigned."));
Tensor variable_handle(DType dtype, const Shape& shape, const VariableHandleOptions& o) {
  if (!o.allowed_devices.empty()) not_part("allowed_devices", "a value lives where it was made");
  if (dtype == DType::kInvalid || dtype == DType::kResource || dtype == DType::kVariant)
    fail(Code::E1101, "VarHandleOp: `dtype` is not one that variables have");
  bool shared = !o.shared_name.empty() && o.shared_name != kAnonymous;
  std::string name = shared                 ? o.shared_name
                     : o.debug_name.empty() ? handle_op().name
                                            : o.debug_name;
  if (OpenGraph* graph = current_graph()) {
    InContainer in(*graph, o.container.empty() ? graph->container() : o.container);
    Tensor there = shared ? shared_in(*graph, name, dtype, shape) : Tensor();
    if (there.defined()) return there;
    return graph->bare_variable(dtype, shape, name, shared ? name : "").handle();
  }
  if (!o.container.empty())
    not_part("container", "outside of a graph variables live as long as somebody uses them");
  if (shared) not_part("shared_name", "outside of a graph a variable is known by its handle alone");
  auto state = make_ref<VariableState>(name, dtype, shape, false);
  state->born = here();
  return Variable(std::move(state)).handle();
}

}  // namespace holdfast
