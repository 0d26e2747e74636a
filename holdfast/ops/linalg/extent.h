// Sizes that may be known only when the graph runs: what reshapes before and after a contraction
// are made of.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "holdfast/op/in.h"

namespace holdfast::linalg {

/// A size: a number, or an int32 scalar that will hold it.
struct Extent {
  int64_t known = 1;
  Tensor later;  // set where `known` is -1
};

/// The size of `axis` of `t`.
Extent extent_of(const Tensor& t, int axis);
Extent operator*(const Extent&, const Extent&);
/// `t` in another shape, of which any number of sizes may be unknown yet.
Tensor reshaped(const Tensor& t, const std::vector<Extent>& sizes);

/// Axes of two operands of `call` that are summed over, or kept, as one.
struct Meeting {
  std::string call, label;  // "einsum", "label 'j' of 'ij,jk->ik'"
  std::array<std::string, 2> names;
  std::array<Tensor, 2> tensors;
  std::array<int, 2> axes;
};
/// What the program calls the two operands of a function that is many ops: its name, and theirs.
std::array<std::string, 2> names_of(const std::array<const char*, 3>& call,
                                    const std::array<Tensor, 2>& operands);
/// Their sizes differ: refuses the first of the two.
[[noreturn]] void refuse_sizes(const Meeting&);
/// The first operand, checked against the second when the graph runs: axes of the same two
/// operands, of which not all sizes are known.
Tensor met(const std::vector<Meeting>&);

}  // namespace holdfast::linalg
