// When elements count as one, for tables of them.
#pragma once

#include <functional>

#include "holdfast/tensor/visit.h"

namespace holdfast {

/// Equality of values: zeros of both signs are one, a NaN is like nothing.
template <class T>
struct Same {
  bool operator()(const T& a, const T& b) const { return a == b; }
};
/// A hash that agrees with it.
template <class T>
struct Hash {
  size_t operator()(const T& v) const {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>)
      return std::hash<float>()(static_cast<float>(v));
    else if constexpr (is_complex_v<T>)
      return std::hash<typename T::value_type>()(v.real()) * 31 +
             std::hash<typename T::value_type>()(v.imag());
    else
      return std::hash<T>()(v);
  }
};

}  // namespace holdfast
