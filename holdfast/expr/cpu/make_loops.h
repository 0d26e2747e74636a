// Turns scalar_ops.def into loops. Included once per loops_*.cpp, which are compiled once per
// instruction set with HOLDFAST_ISA naming it.
#pragma once

#include "holdfast/expr/cpu/loop_table.h"
#include "holdfast/expr/cpu/scalar_host.h"
#include "holdfast/tensor/complex.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::HOLDFAST_ISA {

template <class... T>
struct Types {};
using F = Types<half, bfloat, float, double>;
using D = Types<float, double>;
using C = Types<complex64, complex128>;
using FC = Types<half, bfloat, float, double, complex64, complex128>;
using I = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
using R = Types<half, bfloat, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                uint32_t, uint64_t>;
using N = Types<half, bfloat, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                uint32_t, uint64_t, complex64, complex128>;
using B = Types<bool>;
using U = Types<half, bfloat, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                uint32_t, uint64_t, complex64, complex128, bool>;

struct same {};
struct boolean {};

// 16-bit floats are computed in float32, a piece at a time: the loop over float32 serves them too,
// where loops of their own were most of what this file took to compile.
template <class T, bool kGivesBool>
void through_float(Loop f, int arity, const void* const* in, void* out, int64_t n) {
  constexpr int64_t kPiece = 512;
  float operands[3][kPiece], result[kPiece];
  const void* const from[] = {operands[0], operands[1], operands[2]};
  for (int64_t at = 0; at < n; at += kPiece) {
    const int64_t m = n - at < kPiece ? n - at : kPiece;
    for (int k = 0; k < arity; ++k) {
      auto* x = static_cast<const T*>(in[k]) + at;
#pragma GCC ivdep
      for (int64_t i = 0; i < m; ++i) operands[k][i] = static_cast<float>(x[i]);
    }
    if constexpr (kGivesBool) {
      f(from, static_cast<bool*>(out) + at, m);
    } else {
      f(from, result, m);
      auto* o = static_cast<T*>(out) + at;
#pragma GCC ivdep
      for (int64_t i = 0; i < m; ++i) o[i] = static_cast<T>(result[i]);
    }
  }
}

template <class Fn, int Arity, class T, class Result>
void loop(const void* const* in, void* out, int64_t n) {
  constexpr bool kGivesBool = std::is_same_v<Result, boolean>;
  if constexpr (!std::is_same_v<T, float_of<T>>) {
    through_float<T, kGivesBool>(&loop<Fn, Arity, float, Result>, Arity, in, out, n);
  } else {
    using O = std::conditional_t<kGivesBool, bool, T>;
    auto* o = static_cast<O*>(out);
    auto* a = static_cast<const T*>(in[0]);
    if constexpr (Arity == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) o[i] = static_cast<O>(Fn::template f<T>(a[i]));
    } else if constexpr (Arity == 2) {
      auto* b = static_cast<const T*>(in[1]);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) o[i] = static_cast<O>(Fn::template f<T>(a[i], b[i]));
    } else {
      auto* b = static_cast<const T*>(in[1]);
      auto* c = static_cast<const T*>(in[2]);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) o[i] = static_cast<O>(Fn::template f<T>(a[i], b[i], c[i]));
    }
  }
}

#define HOLDFAST_PARAMS1 T x
#define HOLDFAST_PARAMS2 T x, T y
#define HOLDFAST_PARAMS3 T x, T y, T z
#define HOLDFAST_SCALAR(id, arity, types, result, ...)                            \
  struct Fn##id {                                                                 \
    template <class T>                                                            \
    static inline __attribute__((always_inline)) auto f(HOLDFAST_PARAMS##arity) { \
      using namespace holdfast::scalar;                                           \
      return __VA_ARGS__;                                                         \
    }                                                                             \
  };
#include "holdfast/expr/scalar_ops.def"
#undef HOLDFAST_SCALAR

// Instructions that do not see the sign of an integer: the unsigned loop serves both.
template <class Fn, class... Of>
inline constexpr bool one_of = (std::is_same_v<Fn, Of> || ...);
template <class Fn>
inline constexpr bool sees_no_sign =
    one_of<Fn, FnNeg, FnSquare, FnAdd, FnSub, FnMul, FnSquaredDifference, FnEqual, FnNotEqual,
           FnInvert, FnBitwiseAnd, FnBitwiseOr, FnBitwiseXor>;
template <class Fn, class T>
using looped_as = typename std::conditional_t<sees_no_sign<Fn> && std::is_integral_v<T> &&
                                                  !std::is_same_v<T, bool>,
                                              std::make_unsigned<T>, std::type_identity<T>>::type;

// Fills the row of one instruction for those of its dtypes that this file is responsible for.
template <class Mine, class Fn, int Arity, class Result, class... T>
void fill(LoopTable& t, Scalar s, Types<T...>) {
  auto one = [&]<class X>(X) {
    if constexpr (Mine::template has<X>)
      t.loops[static_cast<int>(s)][static_cast<int>(dtype_of<X>)] =
          &loop<Fn, Arity, looped_as<Fn, X>, Result>;
  };
  (one(T{}), ...);
}

template <class Mine>
void fill_all(LoopTable& t) {
#define HOLDFAST_SCALAR(id, arity, types, result, ...) \
  fill<Mine, Fn##id, arity, result>(t, Scalar::k##id, types{});
#include "holdfast/expr/scalar_ops.def"
#undef HOLDFAST_SCALAR
}

}  // namespace holdfast::HOLDFAST_ISA
