// What scalar_ops.def needs in a kernel beside scalar_math.h: the device's twin of expr/cpu/scalar_host.h,
// for real numbers. NVRTC compiles it, so it includes nothing but ours.
#pragma once

#include "holdfast/expr/scalar_math.h"
#include "holdfast/expr/special_functions.h"
#include "holdfast/cuda/element_types.h"

namespace holdfast::scalar {

template <class T> concept Integer = T(1) / T(2) == T(0);
template <class T> inline constexpr bool is_signed = T(-1) < T(0);
// Integer overflow wraps: computed modulo 2^64, then cut.
using Wide = unsigned long long;

HF_FN double infinity() { return detail::infinity(); }

template <class T> HF_FN T wrap_add(T x, T y) { if constexpr (Integer<T>) return T(Wide(x) + Wide(y)); else return x + y; }
template <class T> HF_FN T wrap_sub(T x, T y) { if constexpr (Integer<T>) return T(Wide(x) - Wide(y)); else return x - y; }
template <class T> HF_FN T wrap_mul(T x, T y) { if constexpr (Integer<T>) return T(Wide(x) * Wide(y)); else return x * y; }
template <class T> HF_FN T wrap_neg(T x) { if constexpr (Integer<T>) return T(Wide(0) - Wide(x)); else return -x; }
template <class T> HF_FN T squared_difference(T x, T y) { T d = wrap_sub(x, y); return wrap_mul(d, d); }

template <Integer T> HF_FN T abs(T x) { return x < T(0) ? wrap_neg(x) : x; }
template <class T> HF_FN T sign(T x) { return x != x ? x : T((x > T(0)) - (x < T(0))); }
template <Integer T> HF_FN T floor(T x) { return x; }
template <Integer T> HF_FN T ceil(T x) { return x; }
template <Integer T> HF_FN T round(T x) { return x; }
template <Integer T> HF_FN T trunc(T x) { return x; }

// A NaN wins, whichever side it is on.
template <class T> HF_FN T nan_max(T x, T y) { return x != x ? x : x < y || y != y ? y : x; }
template <class T> HF_FN T nan_min(T x, T y) { return x != x ? x : y < x || y != y ? y : x; }

template <Integer T> HF_FN T truncdiv(T x, T y) {
  if (y == T(0)) return T(0);
  if constexpr (is_signed<T>) if (y == T(-1)) return wrap_neg(x);
  return T(x / y);
}
template <Integer T> HF_FN T truncmod(T x, T y) {
  if (y == T(0)) return T(0);
  if constexpr (is_signed<T>) if (y == T(-1)) return T(0);
  return T(x % y);
}
HF_FN float truncmod(float x, float y) { return fmod(x, y); }
HF_FN double truncmod(double x, double y) { return fmod(x, y); }

template <Integer T> HF_FN T shift_left(T x, T y) { return Wide(y) < sizeof(T) * 8 ? T(Wide(x) << Wide(y)) : T(0); }
template <Integer T> HF_FN T shift_right(T x, T y) { return T(x >> (Wide(y) < sizeof(T) * 8 ? int(y) : int(sizeof(T) * 8 - 1))); }

HF_FN float nextafter(float x, float y) { return ::nextafterf(x, y); }
HF_FN double nextafter(double x, double y) { return ::nextafter(x, y); }

}  // namespace holdfast::scalar
