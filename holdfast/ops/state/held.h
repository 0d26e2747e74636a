// What messages say of variables: how the program calls them, and that one has no value.
#pragma once

#include <array>

#include "holdfast/base/text.h"
#include "holdfast/op/opdef.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {

/// What the program calls the variable behind input 0 of an op of two.
inline std::string held_name(const Infer& s, const VariableState& v) {
  std::string said = operand_source(s.op(), std::array{s.input(0), s.input(1)}, 0).text;
  return said == s.op().inputs[0].name ? v.name : said;
}

/// Why an op that needs the value of a variable has none.
inline Status no_value(const VariableState& v) {
  return {Code::E1103, cat("variable `", v.name, "` has no value yet"),
          "it was made by hand, and nobody has assigned it a value"};
}

}  // namespace holdfast
