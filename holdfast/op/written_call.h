// What a C++ program wrote for the arguments of a call, read from its own line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/api.h"

namespace holdfast {

/// A call as it stands on a line: `tape.gradient(y, x)` is {"tape", {"y", "x"}}.
struct WrittenCall {
  std::string object;  // what stands before the dot or the arrow; empty for a free function
  std::vector<std::string> arguments;
};

/// The one call of `function` on the line; nothing where there is none, several, or where it goes
/// on in the next line: a name that may be wrong is worse than none.
HOLDFAST_API std::optional<WrittenCall> written_call(std::string_view line,
                                                     std::string_view function);
/// The operands of the one binary `symbol` on the line ("+"), where both are plain: names, members,
/// elements, calls and numbers.
HOLDFAST_API std::optional<WrittenCall> written_operands(std::string_view line,
                                                         std::string_view symbol);

/// Element `i` of an argument that is a list: of `{a, b}` or of `list`. Empty where that is not
/// sure.
HOLDFAST_API std::string written_element(std::string_view argument, size_t i);

/// What the one `if`, `while` or `?` on the line asks for its truth; empty where that is not sure.
HOLDFAST_API std::string written_truth(std::string_view line);

/// The one variable that a line declares or assigns: `more` of `Tensor more = a > b;`. Empty where
/// that is not sure.
HOLDFAST_API std::string written_name(std::string_view line);
/// Whether the line asks for the truth of a variable: `if (more)`, `while (!done)`, `more ? a : b`.
HOLDFAST_API bool asks_truth_of(std::string_view line, std::string_view name);

/// What stands before the one `.item<...>()` or other reading of numbers on the line; empty where
/// that is not sure.
HOLDFAST_API std::string written_reader(std::string_view line);

}  // namespace holdfast
