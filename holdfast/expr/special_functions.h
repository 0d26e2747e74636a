// The gamma, beta, zeta and Bessel families, and quantiles of the normal distribution.
//
// The same rules as scalar_math.h: host and CUDA, no include but that one. The first part is
// branch-free and vectorises; the second loops until convergence, computes in double, and takes
// float through double. Its errors are stated as relative errors of the double functions.
#pragma once

#ifndef __CUDACC_RTC__  // NVRTC is handed the text of scalar_math.h before this one
#include "holdfast/expr/scalar_math.h"
#endif

namespace holdfast::scalar {
namespace detail {

// Stirling's series behind the factor sqrt(2 pi) x^(x - 1/2) e^-x, for x >= 8.
HF_FN double stirling_tail(double x) {
  const double z = 1 / (x * x);
  return poly(z, 1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156) /
         x;
}

}  // namespace detail

#ifdef __CUDACC__

namespace detail {
HF_FN double sinpi(double x) { return ::sinpi(x); }
HF_FN double cospi(double x) { return ::cospi(x); }
}  // namespace detail

HF_FN float erfinv(float x) { return ::erfinvf(x); }
HF_FN double erfinv(double x) { return ::erfinv(x); }
HF_FN float ndtri(float p) { return ::normcdfinvf(p); }
HF_FN double ndtri(double p) { return ::normcdfinv(p); }
HF_FN float lgamma(float x) { return ::lgammaf(x); }
HF_FN double lgamma(double x) { return ::lgamma(x); }

#else  // host

namespace detail {

// The normal quantile of 1/2 + q, where tail = 1/2 - |q| in (0, 1/2]: Wichura's rational functions
// (algorithm AS 241), relative error about 1e-16 in exact arithmetic.
HF_FN double normal_quantile(double q, double tail) {
  const double v = 0.180625 - q * q;
  const double n0 = poly(v, 3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
                         1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                         3.3430575583588128105e4, 2.5090809287301226727e3);
  const double d0 = poly(v, 1.0, 4.2313330701600911252e1, 6.8718700749205790830e2,
                         5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
                         2.8729085735721942674e4, 5.2264952788528545610e3);
  const double w = sqrt(-log(tail)), r = w - 1.6, s = w - 5;
  const double n1 = poly(r, 1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
                         3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1,
                         2.27238449892691845833e-2, 7.74545014278341407640e-4);
  const double d1 =
      poly(r, 1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
           1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
           1.05075007164441684324e-9);
  const double n2 =
      poly(s, 6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
           2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
           2.71155556874348757815e-5, 2.01033439929228813265e-7);
  const double d2 =
      poly(s, 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
           7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
           2.04426310338993978564e-15);
  const bool middle = abs(q) <= 0.425, near = w <= 5;
  const double z = (middle ? q * n0 : near ? n1 : n2) / (middle ? d0 : near ? d1 : d2);
  const double outer =
      tail > 0 ? copysign(z, q) : (tail == 0 ? copysign(infinity(), q) : quiet_nan());
  return middle ? z : outer;
}

}  // namespace detail

// Inverse error function on [-1, 1], worst 0.6 ulp; double: 8 ulp, vectorises.
HF_FN double erfinv(double x) {
  return 0.70710678118654752440 * detail::normal_quantile(0.5 * x, 0.5 - abs(0.5 * x));
}
HF_FN float erfinv(float x) { return float(erfinv(double(x))); }

// Inverse of the normal distribution function on [0, 1], worst 0.6 ulp; double: relative error
// below 1e-14 away from its zero at 1/2; vectorises.
HF_FN double ndtri(double p) { return detail::normal_quantile(p - 0.5, p < 0.5 ? p : 1 - p); }
HF_FN float ndtri(float p) { return float(ndtri(double(p))); }

namespace detail {

// sin(pi x) and cos(pi x) in double, both vectorise.
HF_FN double sinpi(double x) {
  const double n = round(x), r = x - n, z = r * r;
  const double s = r * poly(z, 3.1415926535897932, -5.1677127800499696, 2.5501640398773004,
                            -0.59926452931894288, 0.082145886573068273, -0.0073704305055674176,
                            0.00046629981428266575, -2.1903491754085956e-5, 7.6977673133457828e-7);
  return round(0.5 * n) == 0.5 * n ? s : -s;
}
HF_FN double cospi(double x) {
  const double n = round(x), r = x - n, z = r * r;
  const double c =
      (1 - 4 * z) * poly(z, 1.0, -0.93480220054467929, 0.31950332423804923, -0.057249471902313509,
                         0.0063327427478666215, -0.00047592037543338953, 2.5892622141968229e-5,
                         -1.0666856093091618e-6, 3.3479403791181182e-8);
  return round(0.5 * n) == 0.5 * n ? c : -c;
}

}  // namespace detail

// log |gamma(x)|, worst 1.4 ulp; Stirling's series at x + 8 or x, reflected below 1/2, in double.
HF_FN float lgamma(float v) {
  const double x = v, a = x < 0.5 ? 1 - x : x;
  const bool small = a < 8;
  const double y = small ? a + 8 : a;
  const double product = a * (a + 1) * (a + 2) * (a + 3) * (a + 4) * (a + 5) * (a + 6) * (a + 7);
  const double stirling =
      (y - 0.5) * log(y) - y + (0.91893853320467274178 + detail::stirling_tail(y));
  const double g = stirling - (small ? log(product) : 0.0);
  const double reflected = log(detail::kPi / abs(detail::sinpi(x))) - g;
  const float r = x == 1 || x == 2 ? 0.0f : float(x < 0.5 ? reflected : g);
  return abs(v) < float(detail::infinity()) ? r : v * v;
}
HF_FN double lgamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

#endif  // host

// Derivative of log gamma; nan at 0 and at negative integers; vectorises.
// Float: worst 0.6 ulp; double: absolute error below 1e-14 (1 + |result|).
HF_FN double digamma(double x) {
  const double a = x < 0.5 ? 1 - x : x;
  // psi(a) = psi(a + 8) - sum 1 / (a + i), the sum as one fraction n / d.
  double n = 0, d = 1;
  for (int i = 0; i < 8; ++i) {
    n = n * (a + i) + d;
    d = d * (a + i);
  }
  const bool small = a < 8;
  const double y = small ? a + 8 : a, z = 1 / (y * y);
  const double series = z * detail::poly(z, 1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132,
                                         -691. / 32760, 1. / 12);
  const double g = (log(y) - 0.5 / y - series) - (small ? n / d : 0.0);
  const double reflected = g - 3.14159265358979323846 * (detail::cospi(x) / detail::sinpi(x));
  const double r = x < 0.5 ? reflected : g;
  return x <= 0 && floor(x) == x ? detail::quiet_nan() : r;
}
HF_FN float digamma(float x) { return float(digamma(double(x))); }

// ---- Below: loops until convergence, one element at a time.

namespace detail {

constexpr double kEpsilon = 1.2e-16;

// e^-|x| I_n(|x|) for n = 0 or 1: the power series, all of one sign, then Hankel's expansion, whose
// smallest term is below e^-2|x|.
HF_FN double bessel_ie(int n, double x) {
  const double a = abs(x);
  double sum = 1, term = 1;
  if (a <= 20) {
    for (int k = 1; k < 100 && term > sum * kEpsilon; ++k) {
      term *= 0.25 * a * a / (double(k) * (k + n));
      sum += term;
    }
    return sum * (n == 1 ? 0.5 * a : 1.0) * exp(-a);
  }
  for (int k = 1; k < 60 && abs(term) > kEpsilon; ++k) {
    const double odd = 2 * k - 1;
    term *= (odd * odd - 4 * n) / (8 * k * a);
    sum += term;
  }
  return sum / sqrt(6.28318530717958647693 * a);
}

// log(1 + m) - m for m > -1.
HF_FN double log1p_minus(double m) {
  if (abs(m) > 0.3) return log1p(m) - m;
  const double s = m / (2 + m), z = s * s;
  double sum = 0, power = 1;
  for (int k = 3; k < 40 && power > kEpsilon; k += 2, power *= z) sum += power / k;
  return 2 * s * z * sum - s * m;
}

// x^a e^-x / gamma(a + 1).
HF_FN double gamma_term(double a, double x) {
  if (a < 10) return exp(a * log(x) - x - lgamma(a + 1));
  return exp(a * log1p_minus((x - a) / a) - stirling_tail(a)) / sqrt(6.28318530717958647693 * a);
}

// The lower (P) or the upper (Q) regularised incomplete gamma function.
HF_FN double incomplete_gamma(double a, double x, bool upper) {
  if (!(a >= 0) || !(x >= 0)) return quiet_nan();
  if (a == infinity()) return x == infinity() ? quiet_nan() : upper ? 1.0 : 0.0;
  if (a == 0) return x == 0 ? quiet_nan() : upper ? 0.0 : 1.0;
  if (x == 0) return upper ? 1.0 : 0.0;
  if (x == infinity()) return upper ? 0.0 : 1.0;
  if (a > 1e6) {  // Temme's expansion, first term
    const double m = (x - a) / a, half = -log1p_minus(m);
    const double eta = copysign(sqrt(2 * half), m);
    const double c0 = abs(m) < 1e-4 ? eta / 12 - 1. / 3 : 1 / m - 1 / eta;
    const double shift = exp(-a * half) * c0 / sqrt(6.28318530717958647693 * a);
    const double y = eta * sqrt(0.5 * a);
    return upper ? 0.5 * erfc(y) + shift : 0.5 * erfc(-y) - shift;
  }
  const double scale = gamma_term(a, x);
  if (x < 1 || x <= a) {
    double sum = 1, term = 1;
    for (int n = 1; n < 100000 && term > sum * kEpsilon; ++n) sum += term *= x / (a + n);
    return upper ? 1 - scale * sum : scale * sum;
  }
  // Legendre's continued fraction, by Lentz's method.
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int n = 1; n < 100000; ++n) {
    const double an = n * (a - n);
    b += 2;
    d = an * d + b;
    d = 1 / (abs(d) < 1e-300 ? 1e-300 : d);
    c = b + an / c;
    c = abs(c) < 1e-300 ? 1e-300 : c;
    h *= d * c;
    if (abs(d * c - 1) < kEpsilon) break;
  }
  return upper ? a * scale * h : 1 - a * scale * h;
}

// log gamma(a + b) - log gamma(a) - log gamma(b).
HF_FN double minus_log_beta(double a, double b) {
  const double small = a < b ? a : b, large = a < b ? b : a, sum = a + b;
  if (large < 10) return lgamma(sum) - lgamma(a) - lgamma(b);
  // Stirling's terms of sum and of large nearly cancel: take their difference analytically.
  const double growth = (large - 0.5) * log1p(small / large) + small * (log(sum) - 1) +
                        (stirling_tail(sum) - stirling_tail(large));
  return growth - lgamma(small);
}

// The continued fraction of the incomplete beta function, by Lentz's method.
HF_FN double beta_fraction(double a, double b, double x) {
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (abs(d) < 1e-300 ? 1e-300 : d);
  double h = d;
  for (int m = 1; m < 20000; ++m) {
    double before = h;
    for (int half = 0; half < 2; ++half) {
      const double t = half == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                 : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 + t * d;
      d = 1 / (abs(d) < 1e-300 ? 1e-300 : d);
      c = 1 + t / c;
      c = abs(c) < 1e-300 ? 1e-300 : c;
      before = h;
      h *= d * c;
    }
    if (abs(h - before) <= kEpsilon * abs(h)) break;
  }
  return h;
}

}  // namespace detail

// Modified Bessel functions of the first kind, order 0 and 1; i0e and i1e times e^-|x|. Relative
// error below 2e-15.
HF_FN double i0e(double x) { return detail::bessel_ie(0, x); }
HF_FN double i1e(double x) { return copysign(detail::bessel_ie(1, x), x); }
HF_FN double i0(double x) {
  const double e = exp(0.5 * abs(x));  // in two factors: e^|x| overflows before I0 does
  return abs(x) < detail::infinity() ? e * (e * i0e(x)) : x * x;
}
HF_FN double i1(double x) {
  const double e = exp(0.5 * abs(x));
  return abs(x) < detail::infinity() ? e * (e * i1e(x)) : x;
}

// Regularised incomplete gamma functions P(a, x) and Q = 1 - P, a >= 0, x >= 0.
// Relative error below 1e-12; Q for a < 1, x < 1 has that error absolutely; so has all beyond a =
// 1e6.
HF_FN double igamma(double a, double x) { return detail::incomplete_gamma(a, x, false); }
HF_FN double igammac(double a, double x) { return detail::incomplete_gamma(a, x, true); }

// dP(a, x)/da, a > 0, x >= 0; absolute error below 1e-12. The power series, term by term: all terms
// have one sign, and so have their derivatives.
HF_FN double igamma_grad_a(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return detail::quiet_nan();
  if (x == 0 || a == detail::infinity() || x == detail::infinity()) return 0;
  const double scale = detail::gamma_term(a, x);
  if (scale < 1e-290) return 0;
  double sum = 1, slope = 0, term = 1, harmonic = 0;
  for (int n = 1; n < 200000 && (term > sum * detail::kEpsilon * 1e-3 || a + n < x); ++n) {
    term *= x / (a + n);
    harmonic += 1 / (a + n);
    sum += term;
    slope -= term * harmonic;
  }
  return scale * (sum * (log(x) - digamma(a + 1)) + slope);
}
HF_FN float igamma_grad_a(float a, float x) { return float(igamma_grad_a(double(a), double(x))); }

// Regularised incomplete beta function, a > 0, b > 0, 0 <= x <= 1. Relative error below
// 1e-12 for a + b <= 1e4, growing with it; absolute where the result is near 1 or x > mean.
HF_FN double betainc(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) return detail::quiet_nan();
  if (x == 0 || x == 1) return x;
  const double scale = exp(a * log(x) + b * log1p(-x) + detail::minus_log_beta(a, b));
  if (x < (a + 1) / (a + b + 2)) return scale * detail::beta_fraction(a, b, x) / a;
  return 1 - scale * detail::beta_fraction(b, a, 1 - x) / b;
}

namespace detail {

// The sum over k >= 0 of (q + k)^-s, s > 1, for q > 0, or a few below 0 and s an integer.
HF_FN double zeta_sum(double s, double q) {
  double sum = 0, w = q;
  for (int k = 0; k < 10 || w < 10; ++k, w += 1) {
    const double term = pow(w, -s);
    sum += term;
    if (w > 0 && term <= 1e-18 * sum) return sum;  // the rest is smaller still by a power
  }
  // Euler and Maclaurin's correction from w on.
  const double p = pow(w, -s);
  sum += p * w / (s - 1) + 0.5 * p;
  constexpr double kBernoulli[12] = {// B_2j / (2j)!
                                     1. / 12,
                                     -1. / 720,
                                     1. / 30240,
                                     -1. / 1209600,
                                     1. / 47900160,
                                     -691. / 1307674368000.,
                                     1. / 74724249600.,
                                     -3617. / 10670622842880000.,
                                     43867. / 5109094217170944000.,
                                     -174611. / 802857662698291200000.,
                                     77683. / 14101100039391805440000.,
                                     -236364091. / 1693824136731743669452800000.};
  double factor = s * p / w;
  for (int j = 0; j < 12; ++j) {
    const double term = kBernoulli[j] * factor;
    sum += term;
    if (abs(term) < kEpsilon * abs(sum)) break;
    factor *= (s + 2 * j + 1) * (s + 2 * j + 2) / (w * w);
  }
  return sum;
}

}  // namespace detail

// Hurwitz zeta: sum over k >= 0 of (q + k)^-s, s > 1, infinite at s = 1. Other q < 0 than integers
// need an integer s, else nan. Where q is 0 or a negative integer it is infinite for even s, and
// nan for others: it goes to opposite sides there. Relative error below 2e-15; for q < 0 relative
// to the largest term.
HF_FN double zeta(double s, double q) {
  if (s != s || q != q || s < 1) return detail::quiet_nan();
  if (s == 1) return detail::infinity();
  const bool whole = floor(s) == s, even = floor(0.5 * s) == 0.5 * s;
  if (q <= 0 && floor(q) == q) return even ? detail::infinity() : detail::quiet_nan();
  if (q < 0 && !whole) return detail::quiet_nan();
  if (q == detail::infinity()) return 0;
  if (q > -20) return detail::zeta_sum(s, q);
  // Terms far below 0 are those of positive numbers with the sign of (-1)^s: two sums of such.
  const double near = q - floor(q) - 10;
  const double far = detail::zeta_sum(s, 1 - near) - detail::zeta_sum(s, 1 - q);
  return detail::zeta_sum(s, near) + (even ? far : -far);
}

// The n-th derivative of digamma, n = 0, 1, 2, ...; nan for another n, and at poles whose sides
// differ. Relative error below 5e-15.
HF_FN double polygamma(double n, double x) {
  if (!(n >= 0) || floor(n) != n) return detail::quiet_nan();
  if (n == 0) return digamma(x);
  double factorial = 1;
  for (int k = 2; k <= n && k < 172; ++k) factorial *= k;
  const double r = factorial * zeta(n + 1, x);
  return floor(0.5 * n) == 0.5 * n ? -r : r;
}

HF_FN float i0(float x) { return float(i0(double(x))); }
HF_FN float i0e(float x) { return float(i0e(double(x))); }
HF_FN float i1(float x) { return float(i1(double(x))); }
HF_FN float i1e(float x) { return float(i1e(double(x))); }
HF_FN float igamma(float a, float x) { return float(igamma(double(a), double(x))); }
HF_FN float igammac(float a, float x) { return float(igammac(double(a), double(x))); }
HF_FN float betainc(float a, float b, float x) {
  return float(betainc(double(a), double(b), double(x)));
}
HF_FN float zeta(float s, float q) { return float(zeta(double(s), double(q))); }
HF_FN float polygamma(float n, float x) { return float(polygamma(double(n), double(x))); }

}  // namespace holdfast::scalar
