// The order that sorting, top_k and searching share.
#pragma once

#include "holdfast/op/in.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

/// a < b, where a NaN is larger than every number: a strict order, whatever comes in.
template <class T>
bool before(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>)
    return before<float>(a, b);
  else if constexpr (std::is_floating_point_v<T>)
    return a < b || (b != b && a == a);
  else
    return a < b;
}

/// Elements of rows of length `n` as positions in the flat tensor, from positions within the row.
Tensor flat_positions(const Tensor& within, const Tensor& like);

}  // namespace holdfast
