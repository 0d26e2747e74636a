#include "holdfast/exec/shared_variables.h"

#include <mutex>

#include "holdfast/base/text.h"

namespace holdfast {

Tensor SharedVariables::handle(const VariableState& of) {
  std::lock_guard lock(mutex_);
  Tensor& handle = handles_[of.name];
  if (!handle.defined()) {
    auto state = make_ref<VariableState>(of.name, of.dtype, of.shape, of.trainable);
    state->born = of.born;
    handle = handle_to(std::move(state));
    return handle;
  }
  const VariableState& known = *variable_state(handle);
  if (known.dtype != of.dtype || !(known.shape == of.shape))
    fail(known.dtype != of.dtype ? Code::E1101 : Code::E1102,
         cat("variable `", of.name, "` is ", name(of.dtype), of.shape.text(),
             " in this graph, and ", name(known.dtype), known.shape.text(), " on the server"),
         "sessions of one server share variables by their names");
  return handle;
}

}  // namespace holdfast
