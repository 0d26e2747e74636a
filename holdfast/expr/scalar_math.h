// Scalar math in one header for the CPU loops, nvcc and NVRTC.
//
// Host: every float function (and those double functions that say so) is branch-free, selects only,
// so that a plain loop over it vectorises for SSE2, AVX2 and AVX-512 under
// `-O3 -fno-math-errno -fno-trapping-math`. Never compile this with -ffast-math: the rounding
// tricks and the special values depend on IEEE arithmetic. CUDA: forwards to CUDA's own functions
// where they exist; nothing is included there, because NVRTC has no host headers.
//
// Special values follow C's libm: nan in, nan out; signed zeros, infinities and denormals as in
// IEEE 754. "worst N ulp" is measured on the host, with and without FMA, by
// tests/expr/scalar_math_test.cpp, over floats of all exponents unless a range is given.
#pragma once

#ifdef __CUDACC__
#define HF_FN __device__ __forceinline__
#else
#include <math.h>
#define HF_FN static inline __attribute__((always_inline))
#endif

namespace holdfast::scalar {
namespace detail {

// c0 + c1 x + c2 x^2 + ..., by Horner's rule.
template <typename T>
HF_FN T poly(T, T c0) {
  return c0;
}
template <typename T, typename... Rest>
HF_FN T poly(T x, T c0, Rest... rest) {
  return c0 + x * poly(x, T(rest)...);
}

}  // namespace detail

#ifdef __CUDACC__

#define HF_CUDA(name)                                \
  HF_FN float name(float x) { return ::name##f(x); } \
  HF_FN double name(double x) { return ::name(x); }
#define HF_CUDA2(name)                                           \
  HF_FN float name(float x, float y) { return ::name##f(x, y); } \
  HF_FN double name(double x, double y) { return ::name(x, y); }
// clang-format off
HF_CUDA(exp) HF_CUDA(exp2) HF_CUDA(expm1) HF_CUDA(log) HF_CUDA(log1p) HF_CUDA(log2)
HF_CUDA(log10) HF_CUDA(sin) HF_CUDA(cos) HF_CUDA(tan) HF_CUDA(asin) HF_CUDA(acos)
HF_CUDA(atan) HF_CUDA(sinh) HF_CUDA(cosh) HF_CUDA(tanh) HF_CUDA(asinh) HF_CUDA(acosh)
HF_CUDA(atanh) HF_CUDA(erf) HF_CUDA(erfc) HF_CUDA(sqrt) HF_CUDA(rsqrt) HF_CUDA(cbrt)
HF_CUDA(floor) HF_CUDA(ceil) HF_CUDA(trunc)
HF_CUDA2(pow) HF_CUDA2(atan2) HF_CUDA2(fmod) HF_CUDA2(copysign)
    // clang-format on
    HF_FN float round(float x) {
  return ::rintf(x);
}
HF_FN double round(double x) { return ::rint(x); }
HF_FN float abs(float x) { return ::fabsf(x); }
HF_FN double abs(double x) { return ::fabs(x); }
#undef HF_CUDA
#undef HF_CUDA2

namespace detail {
HF_FN double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }
HF_FN double quiet_nan() { return __longlong_as_double(0x7ff8000000000000LL); }
}  // namespace detail

#else  // host

namespace detail {

HF_FN unsigned bits(float x) { return __builtin_bit_cast(unsigned, x); }
HF_FN unsigned long long bits(double x) { return __builtin_bit_cast(unsigned long long, x); }
HF_FN float from_bits(unsigned b) { return __builtin_bit_cast(float, b); }
HF_FN double from_bits(unsigned long long b) { return __builtin_bit_cast(double, b); }
HF_FN double infinity() { return __builtin_inf(); }
HF_FN double quiet_nan() { return __builtin_nan(""); }

// Adding one of these rounds to an integer, half to even, and leaves it in the low bits.
constexpr float kRound32 = 12582912.0f;         // 1.5 * 2^23
constexpr double kRound64 = 6755399441055744.;  // 1.5 * 2^52
constexpr float kLn2Hi32 = 0.693359375f, kLn2Lo32 = -2.12194440e-4f;
constexpr double kLn2Hi64 = 6.93147180369123816490e-01, kLn2Lo64 = 1.90821492927058770002e-10;
constexpr double kPi = 3.14159265358979323846;

HF_FN float pow2(unsigned k) { return from_bits((k + 127) << 23); }
HF_FN double pow2(unsigned long long k) { return from_bits((k + 1023) << 52); }

// x * 2^k in two steps, so that results may overflow or become denormal.
HF_FN float scale2(float x, unsigned k) {
  const unsigned half = unsigned(int(k) >> 1);
  return x * pow2(half) * pow2(k - half);
}

// e^r - 1 for |r| <= 0.35.
HF_FN float expm1_poly(float r) {
  return r + r * r *
                 poly(r, 0.500000005f, 0.166666668f, 0.0416663482f, 0.00833327199f, 0.00139415591f,
                      0.000199148149f);
}
HF_FN double expm1_poly(double r) {
  return r + r * r *
                 poly(r, 0.5, 0.16666666666666677, 0.041666666666666703, 0.0083333333333211083,
                      0.0013888888888865824, 0.00019841269887629206, 2.4801587362606912e-5,
                      2.7557242536880258e-6, 2.755724099364229e-7, 2.5109669630124815e-8,
                      2.0924989668904595e-9);
}

// x = k ln 2 + r, |r| <= 0.35. kf is k as a number.
template <typename T, typename Bits>
struct ExpParts {
  T r, kf;
  Bits k;
};
using ExpParts32 = ExpParts<float, unsigned>;
using ExpParts64 = ExpParts<double, unsigned long long>;
HF_FN ExpParts32 exp_reduce(float x) {
  const float t = x * 1.44269504f + kRound32, kf = t - kRound32;
  return {(x - kf * kLn2Hi32) - kf * kLn2Lo32, kf, bits(t) - bits(kRound32)};
}
HF_FN ExpParts64 exp_reduce(double x) {
  const double t = x * 1.4426950408889634 + kRound64, kf = t - kRound64;
  return {(x - kf * kLn2Hi64) - kf * kLn2Lo64, kf, bits(t) - bits(kRound64)};
}

// e^x where the result is a normal number: -87 < x < 88.
HF_FN float exp_normal(float x) {
  const ExpParts32 p = exp_reduce(x);
  return from_bits(bits(1 + expm1_poly(p.r)) + (p.k << 23));
}

// e^x - 1 for -80 < x < 80.
template <typename T>
HF_FN T expm1_normal(T x) {
  const auto p = exp_reduce(x);
  const T s = pow2(p.k);
  return s * expm1_poly(p.r) + (s - 1);
}

// x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); x positive, possibly denormal.
template <typename T>
struct LogParts {
  T f, e;
};
HF_FN LogParts<float> log_reduce(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const unsigned d = bits(tiny ? x * 8388608.0f : x) - 0x3f3504f3u;
  const float e = float(int(d) >> 23) - (tiny ? 23.0f : 0.0f);
  return {from_bits((d & 0x7fffffu) + 0x3f3504f3u) - 1, e};
}
HF_FN LogParts<double> log_reduce(double x) {
  const bool tiny = x < 2.2250738585072014e-308;
  constexpr unsigned long long kRoot = 0x3fe6a09e667f3bcdULL, kMask = 0xfffffffffffffULL;
  const unsigned long long d = bits(tiny ? x * 0x1p54 : x) - kRoot;
  // The exponent becomes a double through 2^52's low bits: no 64-bit conversion before AVX-512.
  const unsigned long long biased = (d + (1024ULL << 52)) >> 52;
  const double e = from_bits(biased | 0x4330000000000000ULL) - (0x1p52 + 1024);
  return {from_bits((d & kMask) + kRoot) - 1, e - (tiny ? 54.0 : 0.0)};
}

// log(1 + f) - f for the f of log_reduce.
HF_FN float log_poly(float f) {
  const float z = f * f;
  return f * z *
             poly(f, 0.333333168f, -0.250008089f, 0.200022816f, -0.166245976f, 0.141813079f,
                  -0.131284817f, 0.128808097f, -0.0785928193f) -
         0.5f * z;
}
HF_FN double log_poly(double f) {
  const double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  const double r =
      z * poly(z, 0.66666666666666697, 0.39999999999897863, 0.28571428626659487,
               0.22222211030755799, 0.18182896263284883, 0.15331496324993239, 0.14619110927739154);
  return s * (half + r) - half;
}

// log(x) + c for finite positive x and a c that is small beside it.
HF_FN float log_plus(float x, float c) {
  const LogParts<float> p = log_reduce(x);
  return (p.f + (log_poly(p.f) + (p.e * kLn2Lo32 + c))) + p.e * kLn2Hi32;
}
HF_FN double log_plus(double x, double c) {
  const LogParts<double> p = log_reduce(x);
  return (p.f + (log_poly(p.f) + (p.e * kLn2Lo64 + c))) + p.e * kLn2Hi64;
}

// Puts log's special values over a result computed for finite positive x.
template <typename T>
HF_FN T log_special(T x, T result) {
  const T finite = x < T(infinity()) ? result : x;
  return x > 0 ? finite : (x == 0 ? -T(infinity()) : T(quiet_nan()));
}

// log(1 + x) for finite x > -1: what 1 + x lost comes back as a first-order correction.
template <typename T>
HF_FN T log1p_finite(T x) {
  const T u = 1 + x;
  const T lost = x < 1 ? x - (u - 1) : 1 - (u - x);
  return log_plus(u, lost / u);
}

}  // namespace detail

// The double functions without code of their own below are libm's; loops over them do not
// vectorise.
#define HF_LIBM(name) \
  HF_FN double name(double x) { return __builtin_##name(x); }
#define HF_LIBM2(name) \
  HF_FN double name(double x, double y) { return __builtin_##name(x, y); }
// clang-format off
HF_LIBM(exp2) HF_LIBM(log2) HF_LIBM(log10) HF_LIBM(erf) HF_LIBM(erfc) HF_LIBM(sin) HF_LIBM(cos)
HF_LIBM(tan) HF_LIBM(asin) HF_LIBM(acos) HF_LIBM(atan) HF_LIBM(sinh) HF_LIBM(cosh) HF_LIBM(asinh)
HF_LIBM(acosh) HF_LIBM(atanh) HF_LIBM(cbrt)
HF_LIBM2(pow) HF_LIBM2(atan2) HF_LIBM2(fmod)
// clang-format on
#undef HF_LIBM
#undef HF_LIBM2

            HF_FN float abs(float x) {
  return __builtin_fabsf(x);
}
HF_FN double abs(double x) { return __builtin_fabs(x); }
HF_FN float copysign(float x, float y) { return __builtin_copysignf(x, y); }
HF_FN double copysign(double x, double y) { return __builtin_copysign(x, y); }

// Square root; exact rounding (0.5 ulp).
HF_FN float sqrt(float x) { return __builtin_sqrtf(x); }
HF_FN double sqrt(double x) { return __builtin_sqrt(x); }

// 1 / sqrt(x), worst 1.5 ulp.
HF_FN float rsqrt(float x) { return 1 / sqrt(x); }
HF_FN double rsqrt(double x) { return 1 / sqrt(x); }

// Nearest integer, half to even.
HF_FN float round(float x) {
  const float a = abs(x);
  return a < 8388608.0f ? copysign((a + 8388608.0f) - 8388608.0f, x) : x;
}
HF_FN double round(double x) {
  const double a = abs(x);
  return a < 0x1p52 ? copysign((a + 0x1p52) - 0x1p52, x) : x;
}

#define HF_ROUNDINGS(T)                            \
  HF_FN T floor(T x) {                             \
    const T r = round(x);                          \
    return copysign(r - (r > x ? T(1) : T(0)), x); \
  }                                                \
  HF_FN T ceil(T x) {                              \
    const T r = round(x);                          \
    return copysign(r + (r < x ? T(1) : T(0)), x); \
  }                                                \
  HF_FN T trunc(T x) {                             \
    const T a = abs(x), r = round(a);              \
    return copysign(r - (r > a ? T(1) : T(0)), x); \
  }
HF_ROUNDINGS(float)
HF_ROUNDINGS(double)
#undef HF_ROUNDINGS

// e^x, worst 1.0 ulp; double: 1.0 ulp, vectorises.
HF_FN float exp(float x) {
  const float low = x < -104.0f ? -104.0f : x, c = low > 89.0f ? 89.0f : low;
  const detail::ExpParts32 p = detail::exp_reduce(c);
  return detail::scale2(1 + detail::expm1_poly(p.r), p.k);
}
HF_FN double exp(double x) {
  const double low = x < -746.0 ? -746.0 : x, c = low > 710.0 ? 710.0 : low;
  const detail::ExpParts64 p = detail::exp_reduce(c);
  // No 64-bit arithmetic shift before AVX-512: halve k as a number.
  const unsigned long long half =
      detail::bits(p.kf * 0.5 + detail::kRound64) - detail::bits(detail::kRound64);
  return (1 + detail::expm1_poly(p.r)) * detail::pow2(half) * detail::pow2(p.k - half);
}

// 2^x, worst 1.0 ulp; exact for integers.
HF_FN float exp2(float x) {
  const float low = x < -151.0f ? -151.0f : x, c = low > 129.0f ? 129.0f : low;
  const float t = c + detail::kRound32, r = c - (t - detail::kRound32);
  return detail::scale2(1 + detail::expm1_poly(r * 0.693147181f),
                        detail::bits(t) - detail::bits(detail::kRound32));
}

// e^x - 1, worst 1.5 ulp; double: 2.0 ulp, vectorises.
HF_FN float expm1(float x) {
  const float low = x < -18.0f ? -18.0f : x, c = low > 89.0f ? 89.0f : low;
  const detail::ExpParts32 p = detail::exp_reduce(c);
  const float half = detail::pow2(p.k - 1);  // 2^128 is no float: work with half of it
  const float r = 2 * (half * detail::expm1_poly(p.r) + (half - 0.5f));
  return abs(x) < 0x1p-25f ? x : r;
}
HF_FN double expm1(double x) {
  const double low = x < -40.0 ? -40.0 : x, c = low > 710.0 ? 710.0 : low;
  const detail::ExpParts64 p = detail::exp_reduce(c);
  const double half = detail::pow2(p.k - 1);
  const double r = 2 * (half * detail::expm1_poly(p.r) + (half - 0.5));
  return abs(x) < 0x1p-54 ? x : r;
}

// Natural logarithm, worst 1.0 ulp; double: 1.0 ulp, vectorises.
HF_FN float log(float x) { return detail::log_special(x, detail::log_plus(x, 0.0f)); }
HF_FN double log(double x) { return detail::log_special(x, detail::log_plus(x, 0.0)); }

// log(1 + x), worst 1.0 ulp; double: 1.0 ulp, vectorises.
HF_FN float log1p(float x) {
  const float r = detail::log_special(1 + x, detail::log1p_finite(x));
  return abs(x) < 0x1p-25f ? x : r;
}
HF_FN double log1p(double x) {
  const double r = detail::log_special(1 + x, detail::log1p_finite(x));
  return abs(x) < 0x1p-54 ? x : r;
}

// log2(x), worst 2.2 ulp (1.2 with FMA); exact for powers of two.
HF_FN float log2(float x) {
  const detail::LogParts<float> p = detail::log_reduce(x);
  // 1 / ln 2 = 1.4375 + the rest: the first product is nearly exact.
  const float tail = detail::log_poly(p.f), rest = (p.f + tail) * 0.00519504089f;
  return detail::log_special(x, p.e + (p.f * 1.4375f + (tail * 1.4375f + rest)));
}

// log10(x), worst 2.1 ulp.
HF_FN float log10(float x) {
  const detail::LogParts<float> p = detail::log_reduce(x);
  const float tail = detail::log_poly(p.f), rest = (p.f + tail) * -0.00320551810f;
  // log10(2) = 0.301025391 (14 bits) + 4.60503907e-6
  const float low = p.e * 4.60503907e-6f + (tail * 0.4375f + rest);
  return detail::log_special(x, (p.e * 0.301025391f + p.f * 0.4375f) + low);
}

// Hyperbolic tangent, worst 2.5 ulp; double: 2.6 ulp, vectorises.
HF_FN float tanh(float x) {
  const float a = abs(x), e = detail::expm1_normal(2 * (a > 9.5f ? 9.5f : a));
  return copysign(e / (e + 2), x);
}
HF_FN double tanh(double x) {
  const double a = abs(x), e = detail::expm1_normal(2 * (a > 20.0 ? 20.0 : a));
  return copysign(e / (e + 2), x);
}

// Error function, worst 2.6 ulp.
HF_FN float erf(float x) {
  const float a = abs(x), c = a > 4.0f ? 4.0f : a, z = c * c;
  const float near = c * detail::poly(z, 1.12837917f, -0.376126258f, 0.112835851f, -0.0268538119f,
                                      0.00518832765f, -0.0008010194f, 7.85386456e-5f);
  // Beyond 1: -log(1 - erf) is nearly a parabola.
  const float p = detail::poly(c, 0.000300725682f, 1.12725021f, 0.637885207f, 0.103325457f,
                               -0.0219395017f, 0.00297220415f, -0.000188798804f);
  return copysign(c >= 1.0f ? 1 - detail::exp_normal(-p) : near, x);  // nan goes by `near`
}

// 1 - erf(x) without cancellation, worst 0.6 ulp; computed in double, as e^(x^2) erfc(x) times
// e^(-x^2).
HF_FN float erfc(float x) {
  const double a = abs(double(x)), c = a > 10.3 ? 10.3 : a, t = (c - 4) / (c + 4);
  const double g =
      detail::poly(t, 0.13699945761581164, -0.25906804924211191, 0.21871968143910354,
                   -0.16425778801170469, 0.10896309655858087, -0.063108332914872074,
                   0.031299792999627324, -0.012839756986644027, 0.0040587204596445505,
                   -0.00081506755241142086, -2.8226242523317045e-5, 0.00010151773700821526);
  const double r = g * exp(-c * c);
  return float(x < 0 ? 2 - r : r);
}

namespace detail {

// 2^e * 2/pi modulo 4, for e = 0 ... 105, as 29 leading bits and the next 53.
struct TwoOverPi {
  double high[106], low[106];
};
constexpr TwoOverPi make_two_over_pi() {
  constexpr unsigned long long words[4] = {0, 0xa2f9836e4e441529ULL, 0xfc2757d1f534ddc0ULL,
                                           0xdb6295993c439041ULL};
  TwoOverPi t{};
  for (int e = 0; e < 105; ++e) {
    for (int i = 0; i < 82; ++i) {  // bit i weighs 2^(1 - i); 64 zero bits stand before the point
      const int at = 64 + e - 2 + i;
      const bool bit = (words[at / 64] >> (63 - at % 64)) & 1;
      double& part = i < 29 ? t.high[e] : t.low[e];
      part = 2 * part + (bit ? 1 : 0);
    }
    t.high[e] *= 0x1p-27;
    t.low[e] *= 0x1p-80;
  }
  return t;
}
inline constexpr TwoOverPi kTwoOverPi = make_two_over_pi();

// x = n pi/2 + r, |r| <= pi/4, n modulo 4: right for every finite float. Up to 2^24 the table's
// first entry serves; beyond, x = m 2^e with a 24-bit m, and whole turns are dropped from 2^e.
struct TrigParts {
  double r;
  unsigned n;
};
HF_FN TrigParts trig_reduce(float x) {
  const unsigned b = bits(x);
  const int over = int((b >> 23) & 255) - 150, shift = over > 0 ? over : 0;
  const long long e = shift;  // an index as wide as the table's entries becomes a gather
  const double m = from_bits(b - (unsigned(shift) << 23));
  const double turns = m * kTwoOverPi.high[e];  // exact: 24 + 29 bits
  const double t = turns + kRound64;
  const double f = (turns - (t - kRound64)) + m * kTwoOverPi.low[e];
  return {f * (kPi / 2), unsigned(bits(t))};
}

template <typename T>
HF_FN T sin_poly(T r) {
  const T z = r * r;
  return r +
         r * z * poly(z, T(-0.166666666), T(0.00833332936), T(-0.000198393255), T(2.71822058e-6));
}
template <typename T>
HF_FN T cos_poly(T r) {
  const T z = r * r;
  return (1 - T(0.5) * z) + z * z * poly(z, T(0.0416666467), T(-0.00138873608), T(2.44376337e-5));
}

// atan(y / x) for y, x >= 0, not both 0 and not both infinite; relative error 2^-34.
HF_FN double atan_quotient(double y, double x) {
  const bool swap = y > x;
  const double small = swap ? x : y, large = swap ? y : x;
  const bool wide = small > 0.41421356237309503 * large;  // beyond tan(pi/8) turn by pi/4
  const double u = (wide ? small - large : small) / (wide ? small + large : large), z = u * u;
  const double p =
      poly(z, 0.99999999997982331, -0.33333332157304852, 0.19999887897860736, -0.14281688956872482,
           0.11041612751753326, -0.084620033184991542, 0.047186207024285089);
  const double r = u * p + (wide ? kPi / 4 : 0.0);
  return swap ? kPi / 2 - r : r;
}

// asin(a) / a as a function of a^2 <= 1/4; relative error 2^-35.
HF_FN double asin_poly(double z) {
  return poly(z, 0.99999999998447842, 0.16666667438482449, 0.07499937109983941,
              0.044662300113976406, 0.030089147312959333, 0.02472974139012267,
              0.0071701763100267316, 0.035013707199679997);
}

// r modulo 2^shift b, exactly, for r < 2^(shift + 28) b.
HF_FN double fmod_step(double r, double b, unsigned long long shift) {
  const double step = b * pow2(shift), left = r - trunc(r / step) * step;
  return left < 0 ? left + step : left;  // the quotient had been rounded up
}

}  // namespace detail

// Sine and cosine, worst 1.7 and 1.8 ulp for every finite float; infinities give nan.
HF_FN float sin(float x) {
  const detail::TrigParts p = detail::trig_reduce(x);
  const float r = float(p.r), s = (p.n & 1) ? detail::cos_poly(r) : detail::sin_poly(r);
  const float y = detail::from_bits(detail::bits(s) ^ ((p.n & 2) << 30)) + (x - x);
  return abs(x) < 0x1p-13f ? x : y;
}
HF_FN float cos(float x) {
  const detail::TrigParts p = detail::trig_reduce(x);
  const float r = float(p.r), s = (p.n & 1) ? detail::sin_poly(r) : detail::cos_poly(r);
  return detail::from_bits(detail::bits(s) ^ (((p.n + 1) & 2) << 30)) + (x - x);
}

// Tangent, worst 1.0 ulp for every finite float; the quotient is taken in double.
HF_FN float tan(float x) {
  const detail::TrigParts p = detail::trig_reduce(x);
  const double s = detail::sin_poly(p.r), c = detail::cos_poly(p.r);
  const bool odd = p.n & 1;
  const float y = float((odd ? -c : s) / (odd ? s : c)) + (x - x);
  return abs(x) < 0x1p-13f ? x : y;
}

// Inverse sine and cosine on [-1, 1], worst 0.6 and 0.6 ulp; nan outside.
HF_FN float asin(float x) {
  const double a = abs(double(x));
  const bool far = a > 0.5;
  const double half = 0.5 - 0.5 * a, s = far ? sqrt(half) : a;
  const double r = s * detail::asin_poly(far ? half : a * a);
  return copysign(float(far ? detail::kPi / 2 - 2 * r : r), x);
}
HF_FN float acos(float x) {
  const double a = abs(double(x));
  const bool far = a > 0.5;
  const double half = 0.5 - 0.5 * a, s = far ? sqrt(half) : double(x);
  const double r = s * detail::asin_poly(far ? half : a * a);
  const double beyond = x < 0 ? detail::kPi - 2 * r : 2 * r;
  return float(far ? beyond : detail::kPi / 2 - r);
}

// Inverse tangent, worst 0.6 ulp; atan2 (angle of the point x, y): worst 0.6 ulp.
HF_FN float atan(float x) { return copysign(float(detail::atan_quotient(abs(x), 1)), x); }
HF_FN float atan2(float y, float x) {
  const float ay = abs(y), ax = abs(x);
  // 0/0 and inf/inf stand for the axis and for the diagonal.
  const bool level = ay == ax && (ax == 0 || ax > 3.4028234e38f);
  const double num = level ? double(ax != 0) : double(ay), den = level ? 1.0 : double(ax);
  const double r = detail::atan_quotient(num, den);
  const bool left = detail::bits(x) >> 31;
  const float angle = copysign(float(left ? detail::kPi - r : r), y);
  return x != x || y != y ? x + y : angle;
}

// Hyperbolic sine and cosine, worst 0.6 and 0.6 ulp; through double's exp.
HF_FN float sinh(float x) {
  const double a = abs(double(x)), e = detail::expm1_normal(a > 89.5 ? 89.5 : a);
  return copysign(float(0.5 * (e + e / (e + 1))), x);
}
HF_FN float cosh(float x) {
  const double e = exp(abs(double(x)));
  return float(0.5 * (e + 1 / e));
}

// Inverse hyperbolic functions, worst 0.6, 0.6 (x >= 1) and 0.6 (|x| <= 1) ulp.
HF_FN float asinh(float x) {
  const double a = abs(double(x)), z = a * a, big = log(a + sqrt(z + 1));
  const double small = a * detail::poly(z, 1.0, -1. / 6, 3. / 40, -15. / 336);
  return copysign(float(a < 0.03 ? small : big), x);
}
HF_FN float acosh(float x) {
  const double d = x, r = log(d + sqrt((d - 1) * (d + 1)));
  return x < 1 ? float(detail::quiet_nan()) : float(r);
}
HF_FN float atanh(float x) {
  const double a = abs(double(x)), z = a * a, big = 0.5 * log((1 + a) / (1 - a));
  const double small = a * detail::poly(z, 1.0, 1. / 3, 1. / 5, 1. / 7);
  return copysign(float(a < 0.03 ? small : big), x);
}

// Cube root, worst 0.6 ulp; two of Halley's steps in double from a third of the exponent.
HF_FN float cbrt(float x) {
  const double a = abs(double(x));
  const unsigned guess = unsigned(detail::bits(a) >> 32) / 3 + 715094163u;
  double t = detail::from_bits((unsigned long long)guess << 32), c = t * t * t;
  t = t * (2 * a + c) / (a + 2 * c);
  c = t * t * t;
  t = t * (2 * a + c) / (a + 2 * c);
  return a > 0 && a < detail::infinity() ? copysign(float(t), x) : x;
}

// x to the power y, worst 0.6 ulp; e^(y log|x|) in double, special values as C's pow.
HF_FN float pow(float x, float y) {
  const double r = exp(double(y) * log(abs(double(x))));
  const bool whole = round(y) == y, odd = whole && round(0.5f * y) != 0.5f * y;
  const bool negative = detail::bits(x) >> 31;
  const float s = negative && odd ? -float(r) : float(r);
  const float v =
      x < 0 && x > -float(detail::infinity()) && !whole ? float(detail::quiet_nan()) : s;
  const bool one = x == 1 || y == 0 || (x == -1 && abs(y) == float(detail::infinity()));
  return one ? 1.0f : v;
}

// Remainder of x / y with the sign of x, exact: quotients up to 2^280 go 28 bits at a time.
HF_FN float fmod(float x, float y) {
  const double b = abs(double(y));
  double r = abs(double(x));
  r = detail::fmod_step(detail::fmod_step(r, b, 252), b, 224);
  r = detail::fmod_step(detail::fmod_step(r, b, 196), b, 168);
  r = detail::fmod_step(detail::fmod_step(r, b, 140), b, 112);
  r = detail::fmod_step(detail::fmod_step(r, b, 84), b, 56);
  r = detail::fmod_step(detail::fmod_step(r, b, 28), b, 0);
  const bool huge = b == detail::infinity() && abs(x) < float(detail::infinity());
  return huge ? x : copysign(float(r), x);
}

#endif  // host

#define HF_LOGISTIC(T)                                                    \
  /* 1 / (1 + e^-x), worst 2.4 ulp, float and double; vectorises. */      \
  HF_FN T sigmoid(T x) {                                                  \
    const T e = exp(-abs(x));                                             \
    return (x < 0 ? e : T(1)) / (1 + e);                                  \
  }                                                                       \
  /* log(1 + e^x), worst 1.7 (float) and 1.8 (double) ulp; vectorises. */ \
  HF_FN T softplus(T x) { return (x < 0 ? T(0) : x) + log1p(exp(-abs(x))); }
HF_LOGISTIC(float)
HF_LOGISTIC(double)
#undef HF_LOGISTIC

// Remainder with the divisor's sign, as Python's %: exact up to one rounding of r + y.
#define HF_FLOOR_DIVISION(T)                          \
  HF_FN T floormod(T x, T y) {                        \
    const T r = fmod(x, y);                           \
    const T wrapped = (r < 0) != (y < 0) ? r + y : r; \
    return r == 0 ? copysign(r, y) : wrapped;         \
  }                                                   \
  HF_FN T floordiv(T x, T y) { return floor(x / y); }
HF_FLOOR_DIVISION(float)
HF_FLOOR_DIVISION(double)
#undef HF_FLOOR_DIVISION

}  // namespace holdfast::scalar
