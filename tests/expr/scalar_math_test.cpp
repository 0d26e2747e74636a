// Holds every function of scalar_math.h, integer_math.h and special_functions.h to the worst ulp
// its comment states, against libm in a wider type, over values of all exponents and the special
// ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "holdfast/expr/cpu/scalar_host.h"
#include "holdfast/expr/integer_math.h"
#include "holdfast/expr/special_functions.h"

namespace holdfast {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The distance of `got` from `want` in units of the last place of `want` rounded to T.
template <typename T>
double ulp_distance(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e30;
  if (std::isnan(got)) return 1e30;
  const T rounded = T(want);
  if (std::isinf(got) || std::isinf(rounded)) {
    if (got == rounded) return 0;
    // The last finite value beside an infinity is one ulp away.
    const T limit = std::copysign(std::numeric_limits<T>::max(), T(want));
    return (got == limit || rounded == limit) && std::signbit(got) == std::signbit(rounded) ? 1
                                                                                            : 1e30;
  }
  if (got == 0 && rounded == 0) return std::signbit(got) == std::signbit(rounded) ? 0 : 1e30;
  const int exponent = std::max(std::ilogb(rounded), std::numeric_limits<T>::min_exponent - 1);
  const long double unit = std::ldexp(1.0L, exponent - (std::numeric_limits<T>::digits - 1));
  return double(std::fabs((long double)got - want) / unit);
}

// Special values, then a spread over all bit patterns (sign, exponent and fraction alike).
const std::vector<float>& floats() {
  static const std::vector<float> values = [] {
    std::vector<float> v = {
        0.0f,          -0.0f,     kInf,      -kInf,       kNan,     FLT_MIN, -FLT_MIN,
        FLT_MAX,       -FLT_MAX,  1e-45f,    -1e-45f,     1e-40f,   1.0f,    -1.0f,
        2.0f,          -2.0f,     0.5f,      -0.5f,       3.0f,     -3.0f,   0x1.fffffep-1f,
        0x1.000002p0f, 88.72284f, 88.72283f, -103.97208f, -103.97f, 1e5f,    1e10f};
    std::mt19937 random(7);
    for (std::uint32_t i = 0; i < 100000; ++i) {
      const std::uint32_t pattern = i * 42949u + random() % 42949u;
      v.push_back(__builtin_bit_cast(float, pattern));
    }
    std::uniform_real_distribution<float> ordinary(-12, 12), wide(-110, 110), near(-1.2f, 1.2f);
    for (int i = 0; i < 60000; ++i)
      v.insert(v.end(), {ordinary(random), wide(random), near(random)});
    return v;
  }();
  return values;
}

bool verbose() { return std::getenv("HOLDFAST_SHOW_ULP") != nullptr; }

// Checks `f` against `reference` over floats() as T, keeping to arguments that `in_domain` accepts.
template <typename T, typename F, typename R, typename D>
void expect_ulp(const char* name, double bound, F f, R reference, D in_domain) {
  double worst = 0;
  T at = 0;
  for (float x : floats()) {
    // A double argument needs bits that a float has not.
    const T v = std::isfinite(x) && sizeof(T) == 8 ? T(x) * T(1 + 0x1.23456789p-30) : T(x);
    if (!in_domain(v)) continue;
    const double distance = ulp_distance<T>(f(v), reference(v));
    if (distance > worst) worst = distance, at = v;
  }
  if (verbose()) std::printf("%-12s %zu  %.3f at %.9g\n", name, sizeof(T), worst, double(at));
  EXPECT_LE(worst, bound) << name << " at " << at;
}
constexpr auto kEverywhere = [](auto) { return true; };

#define CHECK_F32(name, bound, reference)                    \
  expect_ulp<float>(                                         \
      #name, bound, [](float x) { return scalar::name(x); }, \
      [](double x) -> long double { return reference; }, kEverywhere)
#define CHECK_F64(name, bound, reference)                     \
  expect_ulp<double>(                                         \
      #name, bound, [](double x) { return scalar::name(x); }, \
      [](long double x) -> long double { return reference; }, kEverywhere)

long double sigmoid_reference(long double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
long double softplus_reference(long double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

TEST(ScalarMath, ExponentialsKeepTheirUlps) {
  CHECK_F32(exp, 1.0, std::exp(x));
  CHECK_F32(exp2, 1.0, std::exp2(x));
  CHECK_F32(expm1, 1.5, std::expm1(x));
  CHECK_F32(tanh, 2.5, std::tanh(x));
  CHECK_F32(sigmoid, 2.4, sigmoid_reference(x));
  CHECK_F32(sinh, 0.6, std::sinh(x));
  CHECK_F32(cosh, 0.6, std::cosh(x));
  CHECK_F64(exp, 1.0, std::exp(x));
  CHECK_F64(expm1, 2.0, std::expm1(x));
  CHECK_F64(tanh, 2.6, std::tanh(x));
  CHECK_F64(sigmoid, 2.4, sigmoid_reference(x));
}

TEST(ScalarMath, LogarithmsKeepTheirUlps) {
  CHECK_F32(log, 1.0, std::log(x));
  CHECK_F32(log1p, 1.0, std::log1p(x));
  CHECK_F32(log2, 2.2, std::log2(x));
  CHECK_F32(log10, 2.1, std::log10(x));
  CHECK_F32(softplus, 1.7, softplus_reference(x));
  CHECK_F32(asinh, 0.6, std::asinh(x));
  CHECK_F32(acosh, 0.6, std::acosh(x));
  CHECK_F32(atanh, 0.6, std::atanh(x));
  CHECK_F64(log, 1.0, std::log(x));
  CHECK_F64(log1p, 1.0, std::log1p(x));
  CHECK_F64(softplus, 1.8, softplus_reference(x));
}

TEST(ScalarMath, TrigonometryIsReducedRightForEveryFloat) {
  CHECK_F32(sin, 1.7, std::sin(x));
  CHECK_F32(cos, 1.8, std::cos(x));
  CHECK_F32(tan, 1.0, std::tan(x));
  CHECK_F32(asin, 0.6, std::asin(x));
  CHECK_F32(acos, 0.6, std::acos(x));
  CHECK_F32(atan, 0.6, std::atan(x));
  // The floats nearest to a multiple of pi/2, beside which a lax reduction loses every digit.
  for (float x :
       {16367173.0f * 0x1p72f, 0x1.0f5ee8p77f, 1.5707964f, 3.1415927f, 31415.926f, 1e22f}) {
    EXPECT_LE(ulp_distance<float>(scalar::sin(x), std::sin((long double)x)), 2.0) << x;
    EXPECT_LE(ulp_distance<float>(scalar::cos(x), std::cos((long double)x)), 2.0) << x;
  }
}

TEST(ScalarMath, ErrorFunctionsKeepTheirUlps) {
  CHECK_F32(erf, 2.6, std::erf(x));
  CHECK_F32(erfc, 0.6, std::erfc(x));
}

TEST(ScalarMath, GeluKeepsItsUlps) {
  auto reference = [](long double x) {
    return 0.5L * x * std::erfc(x * -0.707106781186547524400844362104849039L);
  };
  // Up to where results are no longer normal numbers.
  for (int i = -130000; i <= 130000; ++i) {
    const float x = static_cast<float>(i) * 1.0001e-4f;
    EXPECT_LE(ulp_distance<float>(scalar::gelu(x), reference(x)), 6.0) << x;
  }
  for (float x : {-1e-3f, 1e-7f, -1e-20f, 1e-38f})
    EXPECT_LE(ulp_distance<float>(scalar::gelu(x), reference(x)), 6.0) << x;
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(scalar::gelu(infinity), infinity);
  EXPECT_EQ(scalar::gelu(-infinity), 0);
  EXPECT_EQ(scalar::gelu(-20.0f), 0);
  EXPECT_TRUE(std::isnan(scalar::gelu(std::numeric_limits<float>::quiet_NaN())));
}

TEST(ScalarMath, RootsKeepTheirUlps) {
  CHECK_F32(sqrt, 0.5001, std::sqrt(x));
  CHECK_F32(rsqrt, 1.5, 1 / std::sqrt(x));
  CHECK_F32(cbrt, 0.6, std::cbrt(x));
  CHECK_F64(rsqrt, 1.5, 1 / std::sqrt(x));
}

long double digamma_reference(long double x) {
  if (x <= 0) {
    const long double r = x - std::nearbyint(x), pi = 3.14159265358979323846264338L;
    return r == 0 || std::isinf(x) ? kNan : digamma_reference(1 - x) - pi / std::tan(pi * r);
  }
  long double sum = 0;
  for (; x < 25; x += 1) sum -= 1 / x;
  const long double z = 1 / (x * x);
  return sum + std::log(x) - 0.5L / x -
         z * (1 / 12.0L - z * (1 / 120.0L - z * (1 / 252.0L - z * (1 / 240.0L - z / 132.0L))));
}

// Newton's step in long double from the result under test: its error, if small, squared.
long double erfinv_reference(long double x) {
  if (!(std::fabs(x) < 1)) return std::fabs(x) == 1 ? x * kInf : kNan;
  if (x == 0) return x;
  const long double a = std::fabs(x), y = scalar::erfinv(double(a));
  const long double off = a < 0.5L ? std::erf(y) - a : (1 - a) - std::erfc(y);
  return std::copysign(y - off * std::exp(y * y) * 0.886226925452758013649L, x);
}
long double ndtri_reference(long double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -kInf : p == 1 ? kInf : kNan;
  if (p == 0.5L) return 0;
  const long double tail = p < 0.5L ? p : 1 - p, y = std::fabs(scalar::ndtri(double(tail)));
  const long double off = 0.5L * std::erfc(y * 0.707106781186547524401L) - tail;
  return std::copysign(y + off * std::exp(0.5L * y * y) * 2.506628274631000502416L, p - 0.5L);
}

TEST(ScalarMath, GammaFunctionsKeepTheirUlps) {
  CHECK_F32(lgamma, 1.4, std::lgamma((long double)x));
  CHECK_F32(digamma, 0.6, digamma_reference(x));
}

TEST(ScalarMath, QuantilesKeepTheirUlps) {
  CHECK_F32(erfinv, 0.6, erfinv_reference(x));
  CHECK_F32(ndtri, 0.6, ndtri_reference(x));
  CHECK_F64(erfinv, 8, erfinv_reference(x));
}

// Values of 17 digits from arbitrary-precision arithmetic.
TEST(SpecialFunctions, AgreeWithArbitraryPrecision) {
  const auto near = [](double got, double want, double tolerance) {
    EXPECT_LE(std::fabs(got - want), tolerance * std::fabs(want)) << got << " for " << want;
  };
  near(scalar::i0(0.3), 1.0226268793515970, 2e-15);
  near(scalar::i0e(0.3), 7.5758062518254786e-1, 2e-15);
  near(scalar::i1(0.3), 1.5169384000359277e-1, 2e-15);
  near(scalar::i1e(-0.3), -1.1237756063983880e-1, 2e-15);
  near(scalar::i0(7.0), 1.6859390851028970e+2, 2e-15);
  near(scalar::i0e(7.0), 1.5373774467288125e-1, 2e-15);
  near(scalar::i1(7.0), 1.5603909286995545e+2, 2e-15);
  near(scalar::i1e(-7.0), -1.4228923470959867e-1, 2e-15);
  near(scalar::i0(19.5), 2.6760525339838766e+7, 2e-15);
  near(scalar::i0e(19.5), 9.0939432095156483e-2, 2e-15);
  near(scalar::i1(19.5), 2.6065069264457166e+7, 2e-15);
  near(scalar::i1e(-19.5), -8.8576086094314852e-2, 2e-15);
  near(scalar::i0(20.5), 7.0922869834317007e+7, 2e-15);
  near(scalar::i0e(20.5), 8.8664429015745248e-2, 2e-15);
  near(scalar::i1(20.5), 6.9170831679184373e+7, 2e-15);
  near(scalar::i1e(-20.5), -8.6474113494087246e-2, 2e-15);
  near(scalar::i0(300.0), 4.4758473679350521e+128, 2e-15);
  near(scalar::i0e(300.0), 2.3042558415085462e-2, 2e-15);
  near(scalar::i1(300.0), 4.4683813850369544e+128, 2e-15);
  near(scalar::i1e(-300.0), -2.3004122040268951e-2, 2e-15);
  near(scalar::igamma(0.5, 0.25), 5.2049987781304654e-1, 1e-12);
  near(scalar::igammac(0.5, 0.25), 4.7950012218695346e-1, 1e-12);
  near(scalar::igamma(3.0, 2.0), 3.2332358381693654e-1, 1e-12);
  near(scalar::igammac(3.0, 2.0), 6.7667641618306346e-1, 1e-12);
  near(scalar::igamma(3.0, 9.0), 9.9376780489362268e-1, 1e-12);
  near(scalar::igammac(3.0, 9.0), 6.2321951063773172e-3, 1e-12);
  near(scalar::igamma(100.0, 90.0), 1.5822098918643017e-1, 1e-12);
  near(scalar::igammac(100.0, 90.0), 8.4177901081356983e-1, 1e-12);
  near(scalar::igamma(1000.0, 1100.0), 9.9894067674607002e-1, 1e-12);
  near(scalar::igammac(1000.0, 1100.0), 1.0593232539299773e-3, 1e-12);
  near(scalar::igamma(200.0, 20.0), 4.6635017890786538e-124, 1e-12);
  near(scalar::igammac(200.0, 20.0), 1.0000000000000000, 1e-12);
  near(scalar::betainc(2.0, 3.0, 0.25), 2.6171875000000000e-1, 1e-12);
  near(scalar::betainc(0.5, 0.5, 0.9), 7.9516723530086657e-1, 1e-12);
  near(scalar::betainc(60.0, 50.0, 0.25), 2.2028634514242746e-11, 1e-12);
  near(scalar::betainc(0.01, 20.0, 0.125), 9.9977920200187915e-1, 1e-12);
  near(scalar::zeta(2.0, 1.0), 1.6449340668482264, 2e-15);
  near(scalar::zeta(1.0625, 0.5), 1.8050021021803593e+1, 2e-15);
  near(scalar::zeta(3.5, 100.0), 4.0502916546368129e-6, 2e-15);
  near(scalar::zeta(12.0, 0.25), 1.6777216068779631e+7, 2e-15);
  near(scalar::zeta(3.0, -2.5), 5.4102025820863702e-2, 2e-14);
  near(scalar::zeta(40.0, 7.0), 1.5782381555556326e-34, 2e-15);
  near(scalar::polygamma(1.0, 0.5), 4.9348022005446793, 5e-15);
  near(scalar::polygamma(2.0, 3.0), -1.5411380631918857e-1, 5e-15);
  near(scalar::polygamma(5.0, -1.75), 4.9223093030187432e+5, 5e-15);
  near(scalar::polygamma(12.0, 40.0), -2.7553997872844011e-12, 5e-15);
  near(scalar::polygamma(1.0, -1e5 - 0.5), 9.8695944011893573, 5e-15);
  near(scalar::digamma(0.125), -8.3884926632958549, 1e-14);
  near(scalar::digamma(1.25), -2.2745353337626541e-1, 1e-14);
  near(scalar::digamma(-3.3), 3.6203534605921258, 1e-14);
  near(scalar::digamma(50.0), 3.9019896734278922, 1e-14);
}

TEST(SpecialFunctions, EdgesOfTheirDomains) {
  EXPECT_EQ(scalar::i0(0.0), 1);
  EXPECT_EQ(scalar::i1(0.0), 0);
  EXPECT_EQ(scalar::i0(kInf), kInf);
  EXPECT_EQ(scalar::i1(-kInf), -kInf);
  EXPECT_EQ(scalar::i0e(double(kInf)), 0);
  EXPECT_TRUE(std::isnan(scalar::i1e(kNan)));
  EXPECT_EQ(scalar::igamma(2.0, 0.0), 0);
  EXPECT_EQ(scalar::igammac(2.0f, kInf), 0);
  EXPECT_TRUE(std::isnan(scalar::igamma(-1.0, 1.0)));
  EXPECT_EQ(scalar::betainc(2.0, 3.0, 0.0), 0);
  EXPECT_EQ(scalar::betainc(2.0, 3.0, 1.0), 1);
  EXPECT_TRUE(std::isnan(scalar::betainc(2.0, 3.0, 1.5)));
  EXPECT_EQ(scalar::zeta(1.0, 2.0), double(kInf));
  EXPECT_TRUE(std::isnan(scalar::zeta(0.5, 2.0)));
  EXPECT_TRUE(std::isnan(scalar::polygamma(1.5, 2.0)));
  EXPECT_EQ(scalar::zeta(2.0, -3.0), double(kInf));
  EXPECT_TRUE(std::isnan(scalar::zeta(3.0, 0.0)));  // its sides differ
  EXPECT_EQ(scalar::zeta(double(kInf), 1e30), 0);
  EXPECT_TRUE(std::isnan(scalar::digamma(-0.0)));
}

TEST(ScalarMath, RoundingIsExact) {
  CHECK_F32(floor, 0, std::floor(x));
  CHECK_F32(ceil, 0, std::ceil(x));
  CHECK_F32(round, 0, std::nearbyint(x));
  CHECK_F32(trunc, 0, std::trunc(x));
  CHECK_F64(floor, 0, std::floor(x));
  CHECK_F64(ceil, 0, std::ceil(x));
  CHECK_F64(round, 0, std::nearbyint(x));
  CHECK_F64(trunc, 0, std::trunc(x));
  EXPECT_EQ(scalar::round(2.5f), 2.0f);
  EXPECT_EQ(scalar::round(-3.5f), -4.0f);
}

// Checks a function of two arguments over pairs of floats(): special with special, then a shuffle.
template <typename F, typename R>
void expect_ulp2(const char* name, double bound, F f, R reference) {
  const std::vector<float>& v = floats();
  double worst = 0;
  float at[2] = {0, 0};
  const auto check = [&](float x, float y) {
    const double distance = ulp_distance<float>(f(x, y), reference((long double)x, (long double)y));
    if (distance > worst) worst = distance, at[0] = x, at[1] = y;
  };
  const std::vector<float> special = {0.0f, -0.0f,   kInf,    -kInf,    kNan,       1.0f,  -1.0f,
                                      2.0f, -2.0f,   3.0f,    -3.0f,    0.5f,       -0.5f, 1e-45f,
                                      2.5f, FLT_MIN, FLT_MAX, -FLT_MAX, 16777217.0f};
  for (float x : special)
    for (float y : special) check(x, y);
  std::mt19937 random(11);
  for (std::size_t i = 0; i < v.size(); ++i) {
    check(v[i], v[random() % v.size()]);
    check(std::fabs(v[i]), float(int(random() % 2000) - 1000) / 16);
  }
  if (verbose()) std::printf("%-12s 4  %.3f at %.9g, %.9g\n", name, worst, at[0], at[1]);
  EXPECT_LE(worst, bound) << name << " at " << at[0] << ", " << at[1];
}

TEST(ScalarMath, FunctionsOfTwoArgumentsKeepTheirUlps) {
  using L = long double;
  expect_ulp2(
      "pow", 0.6, [](float x, float y) { return scalar::pow(x, y); },
      [](L x, L y) { return std::pow(x, y); });
  expect_ulp2(
      "atan2", 0.6, [](float y, float x) { return scalar::atan2(y, x); },
      [](L y, L x) { return std::atan2(y, x); });
  expect_ulp2(
      "fmod", 0, [](float x, float y) { return scalar::fmod(x, y); },
      [](L x, L y) -> L { return std::fmod(float(x), float(y)); });
}

TEST(ScalarMath, FlooredDivisionFollowsPython) {
  EXPECT_EQ(scalar::floormod(-7.0f, 3.0f), 2.0f);
  EXPECT_EQ(scalar::floormod(7.0f, -3.0f), -2.0f);
  EXPECT_EQ(scalar::floormod(7.5, 2.0), 1.5);
  EXPECT_EQ(scalar::floordiv(-7.0f, 2.0f), -4.0f);
  EXPECT_TRUE(std::signbit(scalar::floormod(4.0f, -2.0f)));
  EXPECT_TRUE(std::isnan(scalar::floormod(1.0f, 0.0f)));
  EXPECT_EQ(scalar::floormod(-1.0f, kInf), kInf);  // as Python
  for (int x = -9; x <= 9; ++x) {
    for (int y : {-4, -3, -1, 1, 2, 5}) {
      EXPECT_EQ(scalar::floordiv(x, y), int(std::floor(double(x) / y)));
      EXPECT_EQ(scalar::floormod(x, y), x - y * int(std::floor(double(x) / y)));
    }
  }
  EXPECT_EQ(scalar::floordiv(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(scalar::floormod(INT64_MIN, std::int64_t(-1)), 0);
  EXPECT_EQ(scalar::floordiv(5, 0), 0);
  EXPECT_EQ(scalar::floormod(5, 0), 0);
  EXPECT_EQ(scalar::floordiv(std::uint8_t(200), std::uint8_t(7)), 28);
}

TEST(ScalarMath, IntegerPowersAreExactAndWrap) {
  EXPECT_EQ(scalar::pow(3, 4), 81);
  EXPECT_EQ(scalar::pow(-3, 3), -27);
  EXPECT_EQ(scalar::pow(0, 0), 1);
  EXPECT_EQ(scalar::pow(2, -1), 0);
  EXPECT_EQ(scalar::pow(-1, -3), -1);
  EXPECT_EQ(scalar::pow(-1, -4), 1);
  EXPECT_EQ(scalar::pow(1, -9), 1);
  EXPECT_EQ(scalar::pow(0, -2), 0);
  EXPECT_EQ(scalar::pow(std::int64_t(7), std::int64_t(22)), 3909821048582988049LL);
  EXPECT_EQ(scalar::pow(std::uint8_t(3), std::uint8_t(6)), std::uint8_t(729));
  EXPECT_EQ(scalar::pow(std::int8_t(-2), std::int8_t(7)), std::int8_t(-128));
}

}  // namespace
}  // namespace holdfast
