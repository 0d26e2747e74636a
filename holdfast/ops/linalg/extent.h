// Sizes that may be known only when the graph runs: what reshapes before and after a contraction
// are made of.
#pragma once

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

}  // namespace holdfast::linalg
