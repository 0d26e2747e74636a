#include "holdfast/expr/jit/math.h"

#include <cmath>
#include <limits>

#include "holdfast/expr/jit/code.h"

namespace holdfast::jit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool wide(V x) { return x.lane() == Lane::kF64; }
V whole(V x) { return bits_as(wide(x) ? Lane::kI64 : Lane::kI32, x); }
V from_whole(V x) { return bits_as(x.lane() == Lane::kI64 ? Lane::kF64 : Lane::kF32, x); }
V other_bits(V x) { return pattern(x, wide(x) ? ~uint64_t{0} >> 1 : ~uint32_t{0} >> 1); }
V sign_bit(V x) { return pattern(x, wide(x) ? uint64_t{1} << 63 : uint64_t{1} << 31); }

template <class... Rest>
V poly(V x, double c0, double c1, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return c0 + x * number(x, c1);
  else
    return c0 + x * poly(x, c1, rest...);
}

// -- exponentials
V rounder(V x) { return number(x, wide(x) ? 6755399441055744. : 12582912.0); }
V pow2(V k) { return from_whole(k.lane() == Lane::kI64 ? (k + 1023) << 52 : (k + 127) << 23); }
V times_pow2(V x, V k) { return node(Op::kScale, x, k); }  // AVX-512

V expm1_poly(V r) {
  V square = r * r;
  V p = wide(r) ? poly(r, 0.5, 0.16666666666666677, 0.041666666666666703, 0.0083333333333211083,
                       0.0013888888888865824, 0.00019841269887629206, 2.4801587362606912e-5,
                       2.7557242536880258e-6, 2.755724099364229e-7, 2.5109669630124815e-8,
                       2.0924989668904595e-9)
                : poly(r, 0.500000005f, 0.166666668f, 0.0416663482f, 0.00833327199f, 0.00139415591f,
                       0.000199148149f);
  return r + square * p;
}

struct ExpParts {
  V r, kf, k;
};
ExpParts exp_reduce(V x) {
  V half_way = rounder(x);
  V t = x * (wide(x) ? 1.4426950408889634 : double{1.44269504f}) + half_way, kf = t - half_way;
  double high = wide(x) ? 6.93147180369123816490e-01 : double{0.693359375f};
  double low = wide(x) ? 1.90821492927058770002e-10 : double{-2.12194440e-4f};
  V r = (x - kf * high) - kf * low;
  return {r, kf, whole(t) - whole(half_way)};
}

V clamped(V x, double least, double most) {
  V low = where(x < least, least, x);
  return where(low > most, most, low);
}

V exp_normal(V x) {
  ExpParts p = exp_reduce(x);
  V y = 1 + expm1_poly(p.r);
  return with_avx512() ? times_pow2(y, p.kf) : from_whole(whole(y) + (p.k << 23));
}

V expm1_normal(V x) {
  ExpParts p = exp_reduce(x);
  V s = with_avx512() ? times_pow2(number(x, 1), p.kf) : pow2(p.k);
  V e = expm1_poly(p.r);
  return s * e + (s - 1);
}

// -- logarithms
struct LogParts {
  V f, e;
};
LogParts log_reduce(V x) {
  Condition tiny = x < (wide(x) ? 2.2250738585072014e-308 : double{1.17549435e-38f});
  V scaled = where(tiny, x * (wide(x) ? 0x1p54 : 8388608.0), x);
  V less = where(tiny, number(x, wide(x) ? 54.0 : 23.0), number(x, 0));
  V b = whole(scaled);
  V root = pattern(b, wide(x) ? 0x3fe6a09e667f3bcdu : 0x3f3504f3u);
  V mask = pattern(b, wide(x) ? 0xfffffffffffffu : 0x7fffffu);
  V d = b - root;
  V e = d;
  if (wide(x)) {
    V biased = node(Op::kShiftRight, d + pattern(d, uint64_t{1024} << 52), 52);
    e = from_whole(biased | pattern(d, 0x4330000000000000u)) - (0x1p52 + 1024);
  } else {
    e = converted(Lane::kF32, d >> 23);
  }
  return {from_whole((d & mask) + root) - 1, e - less};
}

V log_poly(V f) {
  if (wide(f)) {
    V s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    V r = z * poly(z, 0.66666666666666697, 0.39999999999897863, 0.28571428626659487,
                   0.22222211030755799, 0.18182896263284883, 0.15331496324993239,
                   0.14619110927739154);
    return s * (half + r) - half;
  }
  V z = f * f, cube = f * z;
  V p = poly(f, 0.333333168f, -0.250008089f, 0.200022816f, -0.166245976f, 0.141813079f,
             -0.131284817f, 0.128808097f, -0.0785928193f);
  V half = 0.5 * z;  // before the other product: of the two it is the one that is not rounded
  return cube * p - half;
}

V log_plus(V x, V c) {
  LogParts p = log_reduce(x);
  double high = wide(x) ? 6.93147180369123816490e-01 : double{0.693359375f};
  double low = wide(x) ? 1.90821492927058770002e-10 : double{-2.12194440e-4f};
  V tail = log_poly(p.f);
  V sum = p.f + (tail + (p.e * low + c));
  return sum + p.e * high;
}

V log_special(V x, V result) {
  V finite = where(x < kInfinity, result, x);
  V none = where(x == 0, number(x, -kInfinity), number(x, kNan));
  return where(x > 0, finite, none);
}

// -- the normal distribution
V below_zero(V bits) { return bits >> 31; }

struct NormalTail {
  V c, density, ratio;
};
NormalTail normal_tail(V a) {
  V end = number(a, 13.2f), c = where(a > end, end, a);
  V high = from_whole(whole(c) & pattern(whole(c), 0xfffff000u)), low = c - high;
  V square = high * high, half_way = rounder(c);
  V t = square * -0.72134752f + half_way, kf = t - half_way;
  V far = (square + kf * (2 * double{0.693359375f})) + kf * (2 * double{-2.12194440e-4f});
  V s = far + low * (c + high);
  V e = poly(s, 1.0f, -0.5f, 0.124999985f, -0.0208330378f, 0.00260425033f, -0.000261693291f,
             2.16306526e-05f);
  V density = (whole(e) + (whole(t) << 23)) & below_zero(whole(a) - whole(end));
  V w = 1 / (c + 3), u = (c - 3) * w;
  V g = poly(u, 0.729083657f, -0.50933224f, 0.230019256f, -0.0472573005f, -0.010479481f,
             0.00692990376f, 0.0010775713f, -0.000912027899f, -0.000272601465f);
  return {c, from_whole(density), g * w};
}

}  // namespace

V where(Condition c, V yes, V no) {
  Body& body = *yes.body;
  // What the processor's minimum and maximum do, NaN and zeros included.
  if (is_float(c.a.lane())) {
    bool less = c.by == Compare::kLess, greater = c.by == Compare::kGreater;
    bool straight = yes.id == c.a.id && no.id == c.b.id,
         crossed = yes.id == c.b.id && no.id == c.a.id;
    if ((less || greater) && (straight || crossed))
      return node(less == straight ? Op::kMin : Op::kMax, yes, no);
  }
  return {&body, body.add({.op = Op::kChoose,
                           .lane = yes.lane(),
                           .immediate = static_cast<uint8_t>(c.by),
                           .a = c.a.id,
                           .b = c.b.id,
                           .c = yes.id,
                           .d = no.id})};
}

V select(V truth, V yes, V no) {
  return {yes.body,
          yes.body->add(
              {.op = Op::kSelect, .lane = yes.lane(), .a = truth.id, .b = yes.id, .c = no.id})};
}

V truth(Condition c) {
  return {c.a.body, c.a.body->add({.op = Op::kCompare,
                                   .lane = Lane::kTruth,
                                   .immediate = static_cast<uint8_t>(c.by),
                                   .a = c.a.id,
                                   .b = c.b.id})};
}

V abs(V x) { return x & other_bits(x); }
V negated(V x) { return x ^ sign_bit(x); }
V copysign(V x, V sign) { return (x & other_bits(x)) | (sign & sign_bit(x)); }
V sqrt(V x) { return as(x.lane(), x, Op::kSqrt); }
V rsqrt(V x) { return 1 / sqrt(x); }
V rounded(V x, int how) { return node(Op::kRound, x, how); }

V exp(V x) {
  ExpParts p = exp_reduce(wide(x) ? clamped(x, -746.0, 710.0) : clamped(x, -104.0, 89.0));
  V y = 1 + expm1_poly(p.r);
  if (with_avx512()) return times_pow2(y, p.kf);
  V half_way = rounder(x);
  V half = wide(x) ? whole(p.kf * 0.5 + half_way) - whole(half_way) : p.k >> 1;
  return y * pow2(half) * pow2(p.k - half);
}

V expm1(V x) {
  ExpParts p = exp_reduce(wide(x) ? clamped(x, -40.0, 710.0) : clamped(x, -18.0, 89.0));
  V half = pow2(p.k - 1);
  V e = expm1_poly(p.r);
  V r = 2 * (half * e + (half - 0.5));
  return where(abs(x) < (wide(x) ? 0x1p-54 : 0x1p-25), x, r);
}

V log(V x) { return log_special(x, log_plus(x, number(x, 0))); }

V log1p(V x) {
  V u = 1 + x;
  V lost = where(x < 1, x - (u - 1), 1 - (u - x));
  V r = log_special(u, log_plus(u, lost / u));
  return where(abs(x) < (wide(x) ? 0x1p-54 : 0x1p-25), x, r);
}

V tanh(V x) {
  double most = wide(x) ? 20.0 : 9.5;
  V a = abs(x);
  V e = expm1_normal(2 * where(a > most, most, a));
  return copysign(e / (e + 2), x);
}

V sigmoid(V x) {
  V e = exp(x | sign_bit(x));  // -|x|
  return where(x < 0, e, 1) / (1 + e);
}

V softplus(V x) {
  V e = exp(x | sign_bit(x));
  return where(x < 0, 0, x) + log1p(e);
}

V erf(V x) {
  V a = abs(x), c = where(a > 4.0, 4.0, a), z = c * c;
  V near = c * poly(z, 1.12837917f, -0.376126258f, 0.112835851f, -0.0268538119f, 0.00518832765f,
                    -0.0008010194f, 7.85386456e-5f);
  V p = poly(c, 0.000300725682f, 1.12725021f, 0.637885207f, 0.103325457f, -0.0219395017f,
             0.00297220415f, -0.000188798804f);
  return copysign(where(c >= 1.0, 1 - exp_normal(negated(p)), near), x);
}

V erfc(V x) {
  V a = abs(converted(Lane::kF64, x)), c = where(a > 10.3, 10.3, a), t = (c - 4) / (c + 4);
  V g = poly(t, 0.13699945761581164, -0.25906804924211191, 0.21871968143910354,
             -0.16425778801170469, 0.10896309655858087, -0.063108332914872074, 0.031299792999627324,
             -0.012839756986644027, 0.0040587204596445505, -0.00081506755241142086,
             -2.8226242523317045e-5, 0.00010151773700821526);
  V r = g * exp(negated(c) * c);
  return converted(Lane::kF32, where(converted(Lane::kF64, x) < 0, 2 - r, r));
}

V gelu(V x) {
  NormalTail p = normal_tail(abs(x));
  V above = from_whole(and_not(below_zero(whole(x)), whole(x)));
  return above - p.density * (p.ratio * p.c);
}

V gelu_grad(V dy, V y) {
  NormalTail p = normal_tail(abs(y));
  V beyond = p.density * p.ratio, negative = below_zero(whole(y));
  V one = from_whole(and_not(negative, pattern(negative, 0x3f800000u)));
  V turned = whole(beyond) ^ and_not(negative, pattern(negative, 0x80000000u));
  V below = one + from_whole(turned);
  return dy * (below + y * double{0.39894228040143267794f} * p.density);
}

V pow(V x, V y) {
  V wide_x = converted(Lane::kF64, x), wide_y = converted(Lane::kF64, y);
  V r = converted(Lane::kF32, exp(wide_y * log(abs(wide_x))));
  V nan = number(x, kNan), one = number(x, 1);
  // Odd: whole, and half of it is not.
  V half = 0.5 * y;
  V odd = where(rounded(half, 0) != half, negated(r), r);
  V of_whole = where(rounded(y, 0) == y, odd, r);
  V s = where(bits_as(Lane::kI32, x) < bits_as(Lane::kI32, number(x, 0)), of_whole, r);
  V finite_negative = where(x > -kInfinity, where(rounded(y, 0) != y, nan, s), s);
  V v = where(x < 0, finite_negative, s);
  V minus = where(abs(y) == kInfinity, one, v);
  V at_minus_one = where(x == -1, minus, v);
  return where(x == 1, one, where(y == 0, one, at_minus_one));
}

}  // namespace holdfast::jit
