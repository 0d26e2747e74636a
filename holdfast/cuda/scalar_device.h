// What scalar_ops.def needs in a kernel beside scalar_math.h: the device's twin of
// expr/cpu/scalar_host.h, for real numbers. NVRTC compiles it, so it includes nothing but ours.
#pragma once

#include "holdfast/cuda/element_types.h"
#include "holdfast/expr/integer_math.h"
#include "holdfast/expr/scalar_math.h"
#include "holdfast/expr/special_functions.h"

namespace holdfast::scalar {

template <class T>
concept Integer = T(1) / T(2) == T(0);
template <class T>
inline constexpr bool is_signed = T(-1) < T(0);
template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;
// Integer overflow wraps: computed modulo 2^64, then cut.
using Wide = unsigned long long;

HF_FN double infinity() { return detail::infinity(); }

template <class T>
HF_FN T wrap_add(T x, T y) {
  if constexpr (Integer<T>)
    return T(Wide(x) + Wide(y));
  else
    return x + y;
}
template <class T>
HF_FN T wrap_sub(T x, T y) {
  if constexpr (Integer<T>)
    return T(Wide(x) - Wide(y));
  else
    return x - y;
}
// A product is rounded before anything is added to it, so that instructions give in one kernel what
// they give in several.
HF_FN float wrap_mul(float x, float y) { return __fmul_rn(x, y); }
HF_FN double wrap_mul(double x, double y) { return __dmul_rn(x, y); }
template <Integer T>
HF_FN T wrap_mul(T x, T y) {
  return T(Wide(x) * Wide(y));
}
template <class T>
HF_FN T wrap_neg(T x) {
  if constexpr (Integer<T>)
    return T(Wide(0) - Wide(x));
  else
    return -x;
}
template <class T>
HF_FN T squared_difference(T x, T y) {
  T d = wrap_sub(x, y);
  return wrap_mul(d, d);
}

template <Integer T>
HF_FN T abs(T x) {
  return x < T(0) ? wrap_neg(x) : x;
}
template <class T>
HF_FN T sign(T x) {
  return x != x ? x : T((x > T(0)) - (x < T(0)));
}
template <Integer T>
HF_FN T floor(T x) {
  return x;
}
template <Integer T>
HF_FN T ceil(T x) {
  return x;
}
template <Integer T>
HF_FN T round(T x) {
  return x;
}
template <Integer T>
HF_FN T trunc(T x) {
  return x;
}

// A NaN wins, whichever side it is on.
template <class T>
HF_FN T nan_max(T x, T y) {
  return x != x ? x : x < y || y != y ? y : x;
}
template <class T>
HF_FN T nan_min(T x, T y) {
  return x != x ? x : y < x || y != y ? y : x;
}

template <Integer T>
HF_FN T truncdiv(T x, T y) {
  if (y == T(0)) return T(0);
  if constexpr (is_signed<T>)
    if (y == T(-1)) return wrap_neg(x);
  return T(x / y);
}
template <Integer T>
HF_FN T truncmod(T x, T y) {
  if (y == T(0)) return T(0);
  if constexpr (is_signed<T>)
    if (y == T(-1)) return T(0);
  return T(x % y);
}
HF_FN float truncmod(float x, float y) { return fmod(x, y); }
HF_FN double truncmod(double x, double y) { return fmod(x, y); }
HF_FN float truncdiv(float x, float y) { return trunc(x / y); }
HF_FN double truncdiv(double x, double y) { return trunc(x / y); }

template <class T>
HF_FN T quotient(T x, T y) {
  if constexpr (Integer<T>)
    return truncdiv(x, y);
  else
    return x / y;
}
template <class T>
HF_FN T conj(T x) {
  return x;
}

// A shift by less than nothing or by more bits than there are is taken for the nearest that is
// defined.
template <Integer T>
HF_FN int shift_by(T y) {
  constexpr T most = T(sizeof(T) * 8 - 1);
  return y < T(0) ? 0 : int(y < most ? y : most);
}
template <Integer T>
HF_FN T shift_left(T x, T y) {
  return T(Wide(x) << shift_by(y));
}
template <Integer T>
HF_FN T shift_right(T x, T y) {
  return T(x >> shift_by(y));
}

HF_FN float nextafter(float x, float y) { return ::nextafterf(x, y); }
HF_FN double nextafter(double x, double y) { return ::nextafter(x, y); }

// From one dtype to another, as expr/cpu/loops_cast.cpp does it; 16-bit floats come and go as
// float.
template <class I, class F>
HF_FN I whole(F x) {
  constexpr F end = F(1ull << (8 * sizeof(I) - 1));
  return x >= -end && x < end ? I(x) : I(1ull << (8 * sizeof(I) - 1));
}
template <class To, class From>
HF_FN To convert(From x) {
  if constexpr (is_same<To, bool>) {
    return x != From(0);
  } else if constexpr (!Integer<From> && !is_same<From, bool> && Integer<To>) {
    if constexpr (sizeof(To) == 8 && !is_signed<To>) {
      constexpr From middle = From(1ull << 63), end = middle + middle;
      const bool upper = x >= middle && x < end;
      return To(whole<long long>(upper ? x - middle : x)) + (upper ? To(1) << 63 : To(0));
    } else if constexpr (sizeof(To) == 8 || (sizeof(To) == 4 && !is_signed<To>)) {
      return To(whole<long long>(x));
    } else {
      return To(whole<int>(x));
    }
  } else {
    return To(x);
  }
}

// Derivatives of activations at y, times what arrives.
template <class T>
HF_FN T softsign_grad(T dy, T y) {
  const T d = T(1) + abs(y);
  return dy / (d * d);
}
template <class T>
HF_FN T silu_grad(T dy, T y) {
  const T s = sigmoid(y);
  return dy * s * (T(1) + y * (T(1) - s));
}
template <class T>
HF_FN T gelu(T x) {
  return T(0.5) * x * erfc(x * T(-0.70710678118654752440));
}
template <class T>
HF_FN T gelu_grad(T dy, T y) {
  const T below = T(0.5) * erfc(y * T(-0.70710678118654752440));  // 1 + erf(y) cancels far left
  return dy * (below + y * T(0.39894228040143267794) * exp(T(-0.5) * y * y));
}
template <class T>
HF_FN T gelu_tanh_grad(T dy, T y) {
  const T s = sigmoid(T(1.59576912160573071176) * (y + T(0.044715) * y * y * y));
  const T slope = T(1.59576912160573071176) * (T(1) + T(0.134145) * y * y);
  return dy * (s + y * s * (T(1) - s) * slope);
}

}  // namespace holdfast::scalar
