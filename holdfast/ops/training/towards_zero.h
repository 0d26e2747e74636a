// What proximal steps share.
#pragma once

#include <algorithm>
#include <cmath>

namespace holdfast::train {

/// -1, 0 or 1; NaN stays.
template <class W>
W sign_of(W x) {
  return x > 0 ? W(1) : x < 0 ? W(-1) : x;
}

/// `x` drawn towards zero by `l1`, never past it, and then by the factor 1 / (1 + l2).
template <class W>
W towards_zero(W x, W l1, W l2) {
  if (l1 > 0) x = sign_of(x) * std::max(std::abs(x) - l1, W(0));
  return x / (1 + l2);
}

}  // namespace holdfast::train
