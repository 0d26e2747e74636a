// Division and powers of integers, defined for all of them.
//
// The same rules as scalar_math.h: host and CUDA, no include but that one, which has the overloads
// for floating point.
#pragma once

#include "holdfast/expr/scalar_math.h"

namespace holdfast::scalar {

// Integer quotient rounded down and its remainder. Defined everywhere: a zero divisor gives 0 and
// 0, the lowest value divided by -1 wraps.
template <typename T>
HF_FN T floordiv(T x, T y) {
  static_assert(T(1) / T(2) == T(0), "the floating-point overloads take other types");
  if (y == 0) return 0;
  if constexpr (T(-1) < T(0)) {
    if (y == T(-1)) return T(0ULL - (unsigned long long)x);
    return T(x / y - (x % y != 0 && (x < 0) != (y < 0)));
  } else {
    return x / y;
  }
}
template <typename T>
HF_FN T floormod(T x, T y) {
  using Wide = unsigned long long;
  return y == 0 ? T(0) : T(Wide(x) - Wide(floordiv(x, y)) * Wide(y));
}

// Integer power by squaring, wrapping on overflow. A negative exponent gives the truncated
// quotient: 0 but for x = 1 and -1; 0 to a negative power is 0.
template <typename T>
HF_FN T pow(T x, T y) {
  static_assert(T(1) / T(2) == T(0), "the floating-point overloads take other types");
  if constexpr (T(-1) < T(0)) {
    if (y < 0) return x == 1 ? T(1) : x == T(-1) ? T(y % 2 == 0 ? 1 : -1) : T(0);
  }
  unsigned long long r = 1, base = (unsigned long long)x;
  for (unsigned long long n = (unsigned long long)y; n != 0; n >>= 1) {
    if (n & 1) r *= base;
    base *= base;
  }
  return T(r);
}

}  // namespace holdfast::scalar
