// Functions that repeat themselves: trigonometry and remainders, in float32. The functions of
// scalar_math.h step by step, as those of math.cpp are.
#include <limits>

#include "holdfast/expr/jit/math.h"
#include "holdfast/expr/scalar_math.h"

namespace holdfast::jit {
namespace {

constexpr double kRound = 6755399441055744.;  // adding it leaves a whole number in the low bits
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct TrigParts {
  V r, n;
};
TrigParts trig_reduce(V x) {
  V b = bits_as(Lane::kI32, x);
  V over = (node(Op::kShiftRight, b, 23) & number(b, 255)) - number(b, 150);
  V shift = where(over > 0, over, 0);
  V e = converted(Lane::kI64, shift);
  V m = converted(Lane::kF64, bits_as(Lane::kF32, b - (shift << 23)));
  auto of_table = [&](int index) {
    return V{x.body, x.body->add({.op = Op::kTable,
                                  .lane = Lane::kF64,
                                  .immediate = static_cast<uint8_t>(index),
                                  .a = e.id})};
  };
  V turns = m * of_table(0), t = turns + kRound;
  V f = (turns - (t - kRound)) + m * of_table(1);
  return {f * (scalar::detail::kPi / 2), converted(Lane::kI32, bits_as(Lane::kI64, t))};
}

V sin_poly(V r) {
  V z = r * r, p = 0.00833332936 + z * (-0.000198393255 + z * 2.71822058e-6);
  return r + r * z * (-0.166666666 + z * p);
}
V cos_poly(V r) {
  V z = r * r, p = -0.00138873608 + z * 2.44376337e-5;
  V near = 1 - 0.5 * z;
  return near + z * z * (0.0416666467 + z * p);
}

Condition is_odd(V n) { return (n & number(n, 1)) == number(n, 1); }

// `s` with its sign turned where the bit of n that is worth 2 is set, and nan for infinities.
V turned(V s, V n, V x) {
  V sign = (n & number(n, 2)) << 30;
  return bits_as(Lane::kF32, bits_as(Lane::kI32, s) ^ sign) + (x - x);
}

V fmod_step(V r, V b, double scale) {
  V step = b * scale, left = r - rounded(r / step, 3) * step;
  return where(left < 0, left + step, left);
}

}  // namespace

const double* table(int index) {
  return index == 0 ? scalar::detail::kTwoOverPi.high : scalar::detail::kTwoOverPi.low;
}

V sin(V x) {
  TrigParts p = trig_reduce(x);
  V r = converted(Lane::kF32, p.r), s = where(is_odd(p.n), cos_poly(r), sin_poly(r));
  return where(abs(x) < 0x1p-13, x, turned(s, p.n, x));
}

V cos(V x) {
  TrigParts p = trig_reduce(x);
  V r = converted(Lane::kF32, p.r), s = where(is_odd(p.n), sin_poly(r), cos_poly(r));
  return turned(s, p.n + 1, x);
}

V tan(V x) {
  TrigParts p = trig_reduce(x);
  V s = sin_poly(p.r), c = cos_poly(p.r);
  // A choice of doubles is made by a comparison of doubles.
  V odd = converted(Lane::kF64, p.n & number(p.n, 1));
  V over = where(odd == 1, negated(c), s), under = where(odd == 1, s, c);
  V y = converted(Lane::kF32, over / under) + (x - x);
  return where(abs(x) < 0x1p-13, x, y);
}

V fmod(V x, V y) {
  V b = abs(converted(Lane::kF64, y)), r = abs(converted(Lane::kF64, x));
  for (int by = 252; by >= 0; by -= 28)
    r = fmod_step(r, b, std::bit_cast<double>((by + 1023ull) << 52));
  V left = copysign(converted(Lane::kF32, r), x);
  // Whole for every finite x and an infinite y.
  return where(abs(y) == kInfinity, where(abs(x) < kInfinity, x, left), left);
}

V floormod(V x, V y) {
  V r = fmod(x, y), both = r + y;
  V wrapped = where(r < 0, where(y < 0, r, both), where(y < 0, both, r));
  return where(r == 0, copysign(r, y), wrapped);
}

V rounded_to_half(V x) {
  return {x.body, x.body->add({.op = Op::kHalf, .lane = Lane::kF32, .a = x.id})};
}

V rounded_to_bfloat(V x) {
  V b = bits_as(Lane::kI32, x), upper = pattern(b, 0xffff0000u);
  V odd = node(Op::kShiftRight, b, 16) & number(b, 1);
  V even = (b + number(b, 0x7fff) + odd) & upper;
  V nan = (b | number(b, 0x400000)) & upper;
  return bits_as(Lane::kF32, where(x != x, nan, even));
}

}  // namespace holdfast::jit
