// Building the diagnostics of an op that refuses its arguments.
#pragma once

#include <span>
#include <string>

#include "holdfast/op/opdef.h"

namespace holdfast {

/// How the user wrote an operand of the call that is executing.
struct OperandSource {
  std::string text;  // "x", "net.h", "1.5"; empty if unknown
  Loc loc;           // its place, with columns, for edits; line 0 if unknown
};

/// How a language tells what the user calls things; set by the binding.
struct Naming {
  OperandSource (*operand)(const Tensor&, int position) noexcept = nullptr;
  std::string (*module_alias)() noexcept = nullptr;  // what the user calls our module: "tf"
};
HOLDFAST_API void set_naming(Naming);

/// What messages call input `i` of `op`: the user's own words, else the argument's name.
HOLDFAST_API OperandSource operand_source(const OpDef&, std::span<const Tensor>, int i);
/// "tf" in Python, "holdfast" in C++.
HOLDFAST_API std::string module_alias();
/// "float32[2,3]"
HOLDFAST_API std::string type_text(const Tensor&);
HOLDFAST_API std::string type_text(DType, const Shape&);
HOLDFAST_API TensorInfo describe(const Tensor&, std::string name);

/// A diagnostic about a call of `op`: its operands with their births, and the user's line.
HOLDFAST_API Diagnostic about_call(Code, const OpDef&, std::span<const Tensor> inputs,
                                   std::string headline);

/// Throws unless dtypes and the number of inputs fit the op's signature.
HOLDFAST_API void check_signature(const OpDef&, std::span<const Tensor> inputs);

}  // namespace holdfast
