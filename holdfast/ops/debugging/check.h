// What a failed check says: the program's own words for what it checked, where that was born, and
// the line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "holdfast/op/arg.h"

namespace holdfast {

/// A check as the program wrote it.
struct Check {
  std::string name;                // "assert_equal"
  std::vector<Tensor> operands;    // what is checked
  std::vector<std::string> words;  // what the program calls them; none: its source tells
  std::string message;             // the program's own, before the reason
};

/// What the program calls the operands: as it said, as its C++ source says, else by the arguments'
/// names.
std::vector<std::string> names_of(const Check&, std::span<const char* const> arguments);
/// "x[1, 0]", or "x" for a single value.
std::string element_name(const std::string& name, const Shape&, int64_t place);
/// "1 of 4 is not"
std::string count_text(int64_t failed, int64_t total);

/// Stops the program: what was found, and why that is wrong. `blamed` is the operand at fault,
/// where it is one alone; `suspect` is whose making is to be looked at.
[[noreturn]] void check_failed(const Check&, const std::vector<std::string>& names,
                               const std::string& found, const std::string& why,
                               const std::string& suspect = {}, int blamed = -1);

/// A check as the attributes `check`, `words` and `message` of an op say it.
Check check_of(const Arg& check, const Arg& words, const Arg& message,
               std::span<const Tensor> operands);

/// What a check of elements asks for, and the raw op that stops the program where it does not hold.
struct ElementCheck {
  const char* op;
  Tensor condition;
  int64_t summarize;  // how many failing elements are shown unless the program says
};
/// The check of that name on its operands. `rtol` and `atol` are those of `assert_near`; empty: 10
/// epsilons of the dtype.
HOLDFAST_API ElementCheck element_check(const std::string& check, std::span<const Tensor> operands,
                                        const Tensor& rtol = {}, const Tensor& atol = {});
/// Whether a rank is what the check of that name asks for.
HOLDFAST_API bool rank_fits(const std::string& check, int64_t rank, const Ints& ranks);
/// Stops the program: the operand of the check has another dtype than it asks for.
[[noreturn]] HOLDFAST_API void wrong_dtype(const Check&, const std::string& expected);
/// Whether shapes fit the names of their dimensions, in a row and cut by `counts`: at once where
/// they are known, else when the program runs.
HOLDFAST_API void assert_shapes_of(const Check&, const std::vector<std::string>& symbols,
                                   const Ints& counts);

}  // namespace holdfast
