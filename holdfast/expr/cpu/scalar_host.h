// What scalar_ops.def needs beside scalar_math.h: integers that wrap, and complex numbers.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>

#include "holdfast/expr/integer_math.h"
#include "holdfast/expr/scalar_math.h"
#include "holdfast/expr/special_functions.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::scalar {

template <class T>
concept Integer = std::is_integral_v<T>;
template <class T>
concept Floating = std::is_floating_point_v<T>;
template <class T>
concept Complex = is_complex_v<T>;

inline double infinity() { return __builtin_inf(); }

// Integer overflow wraps, as in every array library; signed arithmetic would be undefined.
template <class T>
using Wide = std::make_unsigned_t<std::conditional_t<(sizeof(T) < 4), int, T>>;
template <Integer T>
inline T wrap_add(T x, T y) {
  return static_cast<T>(static_cast<Wide<T>>(x) + static_cast<Wide<T>>(y));
}
template <Integer T>
inline T wrap_sub(T x, T y) {
  return static_cast<T>(static_cast<Wide<T>>(x) - static_cast<Wide<T>>(y));
}
template <Integer T>
inline T wrap_mul(T x, T y) {
  return static_cast<T>(static_cast<Wide<T>>(x) * static_cast<Wide<T>>(y));
}
template <Integer T>
inline T wrap_neg(T x) {
  return static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(x));
}
template <Floating T>
inline T wrap_add(T x, T y) {
  return x + y;
}
template <Floating T>
inline T wrap_sub(T x, T y) {
  return x - y;
}
template <Floating T>
inline T wrap_mul(T x, T y) {
  return x * y;
}
template <Floating T>
inline T wrap_neg(T x) {
  return -x;
}
template <Complex T>
inline T wrap_add(T x, T y) {
  return x + y;
}
template <Complex T>
inline T wrap_sub(T x, T y) {
  return x - y;
}
template <Complex T>
inline T wrap_neg(T x) {
  return -x;
}
// The plain formula: C's rules for infinities would call a library for every product.
template <Complex T>
inline T wrap_mul(T x, T y) {
  return T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
}

template <class T>
inline T squared_difference(T x, T y) {
  T d = wrap_sub(x, y);
  if constexpr (Complex<T>)
    return wrap_mul(std::conj(d), d);
  else
    return wrap_mul(d, d);
}

template <Integer T>
inline T abs(T x) {
  if constexpr (std::is_signed_v<T>)
    return x < 0 ? wrap_neg(x) : x;
  else
    return x;
}
template <Integer T>
inline T sign(T x) {
  return static_cast<T>((x > 0) - (std::is_signed_v<T> && x < 0));
}
template <Complex T>
inline T sign(T x) {
  return x == T(0) ? T(0) : x / std::abs(x);
}
template <Floating T>
inline T sign(T x) {
  return x != x ? x : static_cast<T>((x > 0) - (x < 0));
}
template <Integer T>
inline T floor(T x) {
  return x;
}
template <Integer T>
inline T ceil(T x) {
  return x;
}
template <Integer T>
inline T round(T x) {
  return x;
}
template <Integer T>
inline T trunc(T x) {
  return x;
}

// A NaN wins, whichever side it is on.
template <Floating T>
inline T nan_max(T x, T y) {
  return x != x ? x : x < y || y != y ? y : x;
}
template <Floating T>
inline T nan_min(T x, T y) {
  return x != x ? x : y < x || y != y ? y : x;
}
template <Integer T>
inline T nan_max(T x, T y) {
  return x < y ? y : x;
}
template <Integer T>
inline T nan_min(T x, T y) {
  return y < x ? y : x;
}

// Division by zero is refused before the loop; here it must only not trap. MIN / -1 wraps.
template <Integer T>
inline T truncdiv(T x, T y) {
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (y == T(-1)) return wrap_neg(x);
  return static_cast<T>(x / y);
}
template <Integer T>
inline T truncmod(T x, T y) {
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (y == T(-1)) return 0;
  return static_cast<T>(x % y);
}
template <Floating T>
inline T truncmod(T x, T y) {
  return fmod(x, y);
}
template <Floating T>
inline T truncdiv(T x, T y) {
  return trunc(x / y);
}
template <Integer T>
inline T quotient(T x, T y) {
  return truncdiv(x, y);
}
template <class T>
inline T quotient(T x, T y) {
  return x / y;
}

// A shift by less than nothing or by more bits than there are is taken for the nearest that is
// defined.
template <Integer T>
inline int shift_by(T y) {
  constexpr T most = static_cast<T>(sizeof(T) * 8 - 1);
  if constexpr (std::is_signed_v<T>)
    if (y < 0) return 0;
  return static_cast<int>(y < most ? y : most);
}
template <Integer T>
inline T shift_left(T x, T y) {
  return static_cast<T>(static_cast<Wide<T>>(x) << shift_by(y));
}
template <Integer T>
inline T shift_right(T x, T y) {
  return static_cast<T>(x >> shift_by(y));
}

template <Floating T>
inline T nextafter(T x, T y) {
  if constexpr (std::is_same_v<T, float>)
    return __builtin_nextafterf(x, y);
  else
    return __builtin_nextafter(x, y);
}

// Complex numbers through the standard library.
#define HOLDFAST_COMPLEX(fn) \
  template <Complex T>       \
  inline T fn(T x) {         \
    return std::fn(x);       \
  }
HOLDFAST_COMPLEX(sqrt)
HOLDFAST_COMPLEX(exp)
HOLDFAST_COMPLEX(log)
HOLDFAST_COMPLEX(sin)
HOLDFAST_COMPLEX(cos)
HOLDFAST_COMPLEX(tan)
HOLDFAST_COMPLEX(asin)
HOLDFAST_COMPLEX(acos)
HOLDFAST_COMPLEX(atan)
HOLDFAST_COMPLEX(sinh)
HOLDFAST_COMPLEX(cosh)
HOLDFAST_COMPLEX(tanh)
HOLDFAST_COMPLEX(asinh)
HOLDFAST_COMPLEX(acosh)
HOLDFAST_COMPLEX(atanh)
#undef HOLDFAST_COMPLEX
template <Complex T>
inline T rsqrt(T x) {
  return T(1) / std::sqrt(x);
}
template <Complex T>
inline T expm1(T x) {
  const auto a = x.real(), b = x.imag(), s = std::sin(b / 2);
  return T(expm1(a) * std::cos(b) - 2 * s * s, std::exp(a) * std::sin(b));
}
template <Complex T>
inline T log1p(T x) {
  const auto a = x.real(), b = x.imag();
  return T(log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a));
}
template <Complex T>
inline T sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}
template <Complex T>
inline T pow(T x, T y) {
  return y == T(0) ? T(1) : x == T(0) ? T(0) : std::pow(x, y);
}
template <Complex T>
inline T conj(T x) {
  return std::conj(x);
}
template <Floating T>
inline T conj(T x) {
  return x;
}

// Derivatives of activations at y, times what arrives.
template <Floating T>
inline T softsign_grad(T dy, T y) {
  const T d = T(1) + abs(y);
  return dy / (d * d);
}
template <Floating T>
inline T silu_grad(T dy, T y) {
  const T s = sigmoid(y);
  return dy * s * (T(1) + y * (T(1) - s));
}
// All bits of a negative number, else none. Choices by it are no branches and no masked products:
// those would not be fused with the sums that follow, in some of a loop's forms.
inline unsigned below_zero(unsigned bits) { return unsigned(int(bits) >> 31); }

// e^(-a^2 / 2), and that times which the normal distribution lies beyond a, for a >= 0. The square
// is rounded nowhere: its error would grow with it. Beyond 13.2, where the first would be denormal,
// it is 0; `c` is a up to there.
struct NormalTail {
  float c, density, ratio;
};
inline NormalTail normal_tail(float a) {
  constexpr float kEnd = 13.2f;
  const float c = a > kEnd ? kEnd : a;
  const float high = detail::from_bits(detail::bits(c) & 0xfffff000u), low = c - high;
  const float square = high * high;  // exact
  const float t = square * -0.72134752f + detail::kRound32, kf = t - detail::kRound32;
  // c^2 = s - 2 k ln 2.
  const float s =
      ((square + kf * (2 * detail::kLn2Hi32)) + kf * (2 * detail::kLn2Lo32)) + low * (c + high);
  const float e = detail::poly(s, 1.0f, -0.5f, 0.124999985f, -0.0208330378f, 0.00260425033f,
                               -0.000261693291f, 2.16306526e-05f);
  // What the sum for t has above the low bits leaves by the shift.
  const unsigned density = (detail::bits(e) + (detail::bits(t) << 23)) &
                           below_zero(detail::bits(a) - detail::bits(kEnd));
  const float w = 1 / (c + 3), u = (c - 3) * w;
  const float g =
      detail::poly(u, 0.729083657f, -0.50933224f, 0.230019256f, -0.0472573005f, -0.010479481f,
                   0.00692990376f, 0.0010775713f, -0.000912027899f, -0.000272601465f);
  return {c, detail::from_bits(density), g * w};
}

// x times the normal distribution function at x, worst 6 ulp where the result is no denormal: such
// ones are 0.
inline float gelu(float x) {
  const NormalTail p = normal_tail(abs(x));
  const float above = detail::from_bits(detail::bits(x) & ~below_zero(detail::bits(x)));
  return above - p.density * (p.ratio * p.c);
}
inline double gelu(double x) { return 0.5 * x * erfc(x * -0.70710678118654752440); }
inline float gelu_grad(float dy, float y) {
  const NormalTail p = normal_tail(abs(y));
  const float beyond = p.density * p.ratio;
  const unsigned negative = below_zero(detail::bits(y));
  const float one = detail::from_bits(0x3f800000u & ~negative);  // 1 on the right, 0 on the left
  const float below = one + detail::from_bits(detail::bits(beyond) ^ (0x80000000u & ~negative));
  return dy * (below + y * 0.39894228040143267794f * p.density);
}
inline double gelu_grad(double dy, double y) {
  const double below = 0.5 * erfc(y * -0.70710678118654752440);  // 1 + erf(y) cancels far left
  return dy * (below + y * 0.39894228040143267794 * exp(-0.5 * y * y));
}
template <Floating T>
inline T gelu_tanh_grad(T dy, T y) {
  const T s = sigmoid(T(1.59576912160573071176) * (y + T(0.044715) * y * y * y));
  const T slope = T(1.59576912160573071176) * (T(1) + T(0.134145) * y * y);
  return dy * (s + y * s * (T(1) - s) * slope);
}

}  // namespace holdfast::scalar
