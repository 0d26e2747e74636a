// Variables that nobody has given a value: those made by hand, with `VarHandleOp`.
#pragma once

#include "holdfast/base/text.h"
#include "holdfast/op/opdef.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {

/// Why an op that needs the value of a variable has none.
inline Status no_value(const VariableState& v) {
  return {Code::E1103, cat("variable `", v.name, "` has no value yet"),
          "it was made by hand, and nobody has assigned it a value"};
}

}  // namespace holdfast
