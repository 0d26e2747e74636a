// What messages advise to write, in the language of the program that reads them.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/base/diagnostic.h"
#include "holdfast/tensor/scope.h"

namespace holdfast {

enum class Language : uint8_t { kCpp, kPython };

/// Pieces of code; `advice.cpp` has each in both languages.
enum class Advice : uint8_t {
  kEnterGraph,    // a graph
  kOpenSession,   // a graph
  kRunInSession,  // a tensor
  kFeed,          // what is fed already, the placeholder
  kInsideBlock,   // what to move into the life of a session
  kCloseSession,  // a session
  kCast,          // a tensor, a dtype
  kCopy,          // a tensor
  kOnDevice,      // a device
  kZeros,         // a shape, a dtype
  kKeep,          // an expression
  kCollect,       // values of iterations
  kLookAtNumbers,
  kPersistent,
  kWatch,  // a tape, a tensor
  kTraced,
  kNothing,        // a gradient that is not there
  kOps,            // functions of ours
  kTakeNoNumbers,  // compute with tensors throughout
  kOption,         // a parameter, its value
  kFeedInput,      // an input of a symbol's graph
  kSetSeed,
  kDeterministic,   // the switch that makes ops deterministic
  kNewAxis,         // a tensor that wants a first axis
  kLastAxis,        // a tensor that wants a last axis
  kTranspose,       // a matrix
  kReshape,         // a tensor, its sizes
  kConstructLayer,  // a class of layers, its first option
  kBuildBase,       // a class of layers
  kGrows,           // what lets a list grow
  kSoftmax,
  kStraightThrough,  // a step that gradients pass as if it were not there
  kOneHot,           // labels, how many classes
  kArgmax,           // labels
};

/// The code, with `with` in the places it has. In Python `tf` is what the program calls us.
HOLDFAST_API std::string written(Advice, std::initializer_list<std::string_view> with = {});
/// A truth value, a dtype, a list of sizes.
HOLDFAST_API std::string written(bool);
HOLDFAST_API std::string written(DType);
HOLDFAST_API std::string written(std::span<const int64_t> sizes);

/// An argument that the executing call should have been given.
struct MissingArgument {
  std::string name, value, reason;
  std::string function = {};  // by this name the call may simply be given it; else in words only
};
/// The fix that gives it; with its edit where the call is Python's, on one line, and of that name.
HOLDFAST_API Fix argument_fix(const MissingArgument&);

/// Tensors whose sizes do not fit, by name: what is left to advise where nothing better is known.
HOLDFAST_API std::vector<Fix> sizes_to_check(std::span<const TensorInfo>);

/// How a language calls the graph or function that a scope stands for, where the program is now:
/// an expression that means it there, else "".
using ScopeNaming = std::string (*)(const Scope&) noexcept;
/// Says in which language the user's program is, and how that names scopes.
HOLDFAST_API void set_language(Language, ScopeNaming);
HOLDFAST_API Language language();

/// An expression for the scope where the program is now; "" if there is none.
HOLDFAST_API std::string visible_name(const Scope&);
/// The source of the expression that a tensor was born from, if it is short and on one line.
HOLDFAST_API std::string source_text(Where);
HOLDFAST_API std::string source_text(Where, size_t longest);
/// What advice calls a tensor in code: the words that were found for it, those it was born with, or
/// a word that stands for it. An op's name would read as one of the program's.
HOLDFAST_API std::string in_code(Where born, const std::string& found);

}  // namespace holdfast
