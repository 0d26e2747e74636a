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

/// What holds a value that left its scope: a path from the program's variables, or "".
struct Holder {
  std::string path;
  bool is_meant = false;  // by the line that uses it, whatever that was said to call it
};

/// How a language tells what the user calls things; set by the binding. Each is asked before the
/// words of a message are made.
struct Naming {
  OperandSource (*operand)(const Tensor&, int position) noexcept = nullptr;
  std::string (*module_alias)() noexcept = nullptr;  // what the user calls our module: "tf"
  Holder (*holder)(const Tensor&, const std::string& name, const Loc& used) noexcept = nullptr;
  std::string (*placeholder)(const Tensor&, const std::string& name) noexcept = nullptr;
  std::string (*layer)(const std::string& name) noexcept = nullptr;
  std::string (*receiver)() noexcept = nullptr;
};
HOLDFAST_API void set_naming(Naming);

/// What the program has of a value that left its scope, which its line at `used` calls `name`.
HOLDFAST_API Holder holder_of(const Tensor&, const std::string& name, const Loc& used);
/// How a program writes a placeholder that its graph calls `name`, where it is to be fed.
HOLDFAST_API std::string placeholder_words(const Tensor&, const std::string& name);
/// How the program's line calls the layer of a name.
HOLDFAST_API std::string layer_words(const std::string& name);
/// What the line calls the object whose method it runs, else `otherwise`.
HOLDFAST_API std::string receiver_words(const std::string& otherwise);

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

/// The fix for a number that is not in [low, high), where anything is.
HOLDFAST_API std::vector<Fix> nearest_allowed(int64_t got, int64_t low, int64_t high);
/// Refuses a number that is not in [low, high). `what` says who got it, and as what: "Gather:
/// `indices[2]` is". The nearest allowed number is the fix.
HOLDFAST_API Status outside(const std::string& what, int64_t got, int64_t low, int64_t high,
                            const std::string& behind = {}, std::string why = {});

/// The same of an argument that a shape rule reads.
[[noreturn]] HOLDFAST_API void refuse_outside(const Infer&, const std::string& argument,
                                              int64_t got, int64_t low, int64_t high,
                                              const std::string& behind = {});

/// Throws unless dtypes and the number of inputs fit the op's signature.
HOLDFAST_API void check_signature(const OpDef&, std::span<const Tensor> inputs);

}  // namespace holdfast
