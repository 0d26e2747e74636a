// Special functions without a scalar instruction: one element at a time, in double.
#include "holdfast/ops/special.h"

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "holdfast/base/parallel.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInf = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi;

// Power series near 0, Rybicki's sum of Gaussians between, the expansion in 1/x far out.
double dawson(double x) {
  double a = std::fabs(x), z = x * x;
  if (!(a < 50))
    return std::isnan(x)   ? x
           : std::isinf(x) ? 0 / x
                           : (1 + (1 + (3 + 15 / (2 * z)) / (2 * z)) / (2 * z)) / (2 * x);
  if (a < 0.2) {
    double term = x, sum = x;
    for (int k = 1; k < 12; ++k) sum += term *= -2 * z / (2 * k + 1);
    return sum;
  }
  constexpr double h = 0.2;
  double even = 2 * std::nearbyint(0.5 * a / h), rest = a - even * h, sum = 0;
  for (int i = -31; i <= 31; i += 2) sum += std::exp(-(rest - i * h) * (rest - i * h)) / (even + i);
  return std::copysign(sum * std::numbers::inv_sqrtpi, x);
}

double exponential_integral(double x) {
  if (std::isnan(x)) return x;
  if (x == 0) return -kInf;
  if (x > 720) return kInf;
  return x < -750 ? -0.0 : std::expint(x);
}

// C(x) + i S(x): the power series near 0, a continued fraction of the error function beyond.
std::complex<double> fresnel(double x) {
  double a = std::fabs(x), t = kPi / 2 * x * x;
  if (std::isnan(x)) return {x, x};
  if (a > 1e7) return {std::copysign(0.5, x), std::copysign(0.5, x)};
  if (a < 1.6) {
    double c = 0, s = 0, term = x;  // x t^k / k!, signs in pairs
    for (int k = 0; k < 40; ++k) {
      double part = (k / 2 % 2 ? -term : term) / (2 * k + 1);
      (k % 2 ? s : c) += part;
      term *= t / (k + 1);
    }
    return {c, s};
  }
  std::complex<double> b(1, -2 * t), c(1e300, 0), d = 1.0 / b, h = d;
  for (int n = 1; n < 2000; n += 2) {
    double step = -static_cast<double>(n) * (n + 1);
    b += 4;
    d = 1.0 / (step * d + b);
    c = b + step / c;
    std::complex<double> change = c * d;
    h *= change;
    if (std::fabs(change.real() - 1) + std::fabs(change.imag()) < 1e-16) break;
  }
  h *= std::complex<double>(a, -a);
  std::complex<double> cs =
      std::complex<double>(0.5, 0.5) * (1.0 - std::complex<double>(std::cos(t), std::sin(t)) * h);
  return x < 0 ? -cs : cs;
}

// Li2(1 - x) for 1/2 <= x <= 2, by Bernoulli's numbers in log(x).
double dilogarithm_near_one(double x) {
  double u = -std::log(x), z = u * u;
  constexpr double c[] = {1. / 36,
                          -1. / 3600,
                          1. / 211680,
                          -1. / 10886400,
                          1. / 526901760,
                          -691. / (2730 * 6227020800.),
                          7. / (6 * 1307674368000.),
                          -3617. / (510 * 355687428096000.)};
  double sum = 0;
  for (int k = 7; k >= 0; --k) sum = sum * z + c[k];
  return u - z / 4 + u * z * sum;
}

double spence(double x) {
  if (!(x >= 0)) return kNan;
  if (x == 0) return kPi * kPi / 6;
  if (std::isinf(x)) return -kInf;
  if (x < 0.5) return kPi * kPi / 6 - std::log(x) * std::log1p(-x) - dilogarithm_near_one(1 - x);
  if (x <= 2) return dilogarithm_near_one(x);
  double l = std::log(x), far = std::log1p(-1 / x);
  return -0.5 * l * l - (1 / x < 0.5 ? kPi * kPi / 6 + l * far - dilogarithm_near_one(1 - 1 / x)
                                     : dilogarithm_near_one(1 / x));
}

double second_kind(double x, double (*y)(double)) {
  return x < 0 || std::isnan(x) ? kNan : x == 0 ? -kInf : y(x);
}

// K_n(x), times e^x where `scaled`; Hankel's expansion where the library's underflows.
double modified(int n, double x, bool scaled) {
  if (x < 0 || std::isnan(x)) return kNan;
  if (x == 0) return kInf;
  if (x < 200) return std::cyl_bessel_k(n, x) * (scaled ? std::exp(x) : 1);
  double sum = 1, term = 1;
  for (int k = 1; k < 20 && std::fabs(term) > 1e-17; ++k)
    sum += term *= (4.0 * n * n - (2 * k - 1) * (2 * k - 1)) / (8 * k * x);
  return std::sqrt(kPi / (2 * x)) * sum * (scaled ? 1 : std::exp(-x));
}

template <class F>
Status each(Call& c, F f) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  visit_floats(x.dtype(), [&]<class T>(T) {
    parallel_for(x.size(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        y.mutable_raw<T>()[i] = static_cast<T>(static_cast<float_of<T>>(
            f(static_cast<double>(static_cast<float_of<T>>(x.raw<T>()[i])))));
    });
  });
  return {};
}

// f(x) / x with its limit at 0.
Tensor over_x(const Tensor& y, const Tensor& x, double limit) {
  Tensor zero = equal(x, 0);
  return select(zero, limit, y / select(zero, 1, x));
}

}  // namespace

static const Op dawsn_op =
    OP(Dawsn, &special::dawsn)
        .args("x")
        .python("math.special.dawsn")
        .dtypes(kFloats)
        .same_as_input()
        .doc(
            "Dawson's integral, element by element: e^(-x^2) times the integral of e^(t^2) from 0 "
            "to x.")
        .kernel(
            "reference", +[](Call& c) -> Status { return each(c, dawson); })
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * (1 - 2 * g.x() * g.y())}; })
        .keeps("x, output")
        .samples("uniform(3, 4, low=-4, high=4)")
        .reference("scipy.special.dawsn(x)");
Tensor special::dawsn(const In& x) { return dawsn_op(x); }

static const Op expint_op =
    OP(Expint, &special::expint)
        .args("x")
        .python("math.special.expint")
        .dtypes(kFloats)
        .same_as_input()
        .doc(
            "Exponential integral, element by element: the principal value of the integral of e^t "
            "/ t up to x.")
        .kernel(
            "reference", +[](Call& c) -> Status { return each(c, exponential_integral); })
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * exp(g.x()) / g.x()}; })
        .keeps("x")
        .samples("uniform(3, 4, low=0.5, high=5)", "uniform(3, 4, low=-5, high=-0.5)")
        .reference("scipy.special.expi(x)");
Tensor special::expint(const In& x) { return expint_op(x); }

static const Op fresnel_cos_op =
    OP(FresnelCos, &special::fresnel_cos)
        .args("x")
        .python("math.special.fresnel_cos")
        .dtypes(kFloats)
        .same_as_input()
        .doc("Integral of cos(pi t^2 / 2) from 0 to x, element by element.")
        .kernel(
            "reference",
            +[](Call& c) -> Status { return each(c, [](double x) { return fresnel(x).real(); }); })
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * cos(square(g.x()) * (kPi / 2))}; })
        .keeps("x")
        .samples("uniform(3, 4, low=-4, high=4)")
        .reference("scipy.special.fresnel(x)[1]");
Tensor special::fresnel_cos(const In& x) { return fresnel_cos_op(x); }

static const Op fresnel_sin_op =
    OP(FresnelSin, &special::fresnel_sin)
        .args("x")
        .python("math.special.fresnel_sin")
        .dtypes(kFloats)
        .same_as_input()
        .doc("Integral of sin(pi t^2 / 2) from 0 to x, element by element.")
        .kernel(
            "reference",
            +[](Call& c) -> Status { return each(c, [](double x) { return fresnel(x).imag(); }); })
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * sin(square(g.x()) * (kPi / 2))}; })
        .keeps("x")
        .samples("uniform(3, 4, low=-4, high=4)")
        .reference("scipy.special.fresnel(x)[0]");
Tensor special::fresnel_sin(const In& x) { return fresnel_sin_op(x); }

static const Op spence_op =
    OP(Spence, &special::spence)
        .args("x")
        .python("math.special.spence")
        .dtypes(kFloats)
        .same_as_input()
        .doc("Spence's function, element by element: the integral of log(t) / (1 - t) from 1 to x.")
        .kernel(
            "reference", +[](Call& c) -> Status { return each(c, spence); })
        .gradient(+[](Grad& g) -> Tensors {
          Tensor one = equal(g.x(), 1);
          return {g.dy() * select(one, -1, log(g.x()) / select(one, 1, 1 - g.x()))};
        })
        .keeps("x")
        .samples("uniform(3, 4, low=0.1, high=4)")
        .reference("scipy.special.spence(x)");
Tensor special::spence(const In& x) { return spence_op(x); }

static const Op j0_op =
    OP(BesselJ0, &special::bessel_j0)
        .args("x")
        .python("math.special.bessel_j0")
        .dtypes(kFloats)
        .same_as_input()
        .doc("Bessel function of the first kind, order 0, element by element.")
        .kernel(
            "reference",
            +[](Call& c) -> Status { return each(c, [](double x) { return ::j0(x); }); })
        .gradient(+[](Grad& g) -> Tensors { return {-(g.dy() * special::bessel_j1(g.x()))}; })
        .keeps("x")
        .samples("uniform(3, 4, low=-9, high=9)")
        .reference("scipy.special.j0(x)");
Tensor special::bessel_j0(const In& x) { return j0_op(x); }

static const Op j1_op =
    OP(BesselJ1, &special::bessel_j1)
        .args("x")
        .python("math.special.bessel_j1")
        .dtypes(kFloats)
        .same_as_input()
        .doc("Bessel function of the first kind, order 1, element by element.")
        .kernel(
            "reference",
            +[](Call& c) -> Status { return each(c, [](double x) { return ::j1(x); }); })
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy() * (special::bessel_j0(g.x()) - over_x(g.y(), g.x(), 0.5))};
        })
        .keeps("x, output")
        .samples("uniform(3, 4, low=-9, high=9)")
        .reference("scipy.special.j1(x)");
Tensor special::bessel_j1(const In& x) { return j1_op(x); }

static const Op y0_op =
    OP(BesselY0, &special::bessel_y0)
        .args("x")
        .python("math.special.bessel_y0")
        .dtypes(kFloats)
        .same_as_input()
        .doc("Bessel function of the second kind, order 0, element by element.")
        .kernel(
            "reference",
            +[](Call& c) -> Status {
              return each(c, [](double x) { return second_kind(x, ::y0); });
            })
        .gradient(+[](Grad& g) -> Tensors { return {-(g.dy() * special::bessel_y1(g.x()))}; })
        .keeps("x")
        .samples("uniform(3, 4, low=0.5, high=9)")
        .reference("scipy.special.y0(x)");
Tensor special::bessel_y0(const In& x) { return y0_op(x); }

static const Op y1_op = OP(BesselY1, &special::bessel_y1)
                            .args("x")
                            .python("math.special.bessel_y1")
                            .dtypes(kFloats)
                            .same_as_input()
                            .doc("Bessel function of the second kind, order 1, element by element.")
                            .kernel(
                                "reference",
                                +[](Call& c) -> Status {
                                  return each(c, [](double x) { return second_kind(x, ::y1); });
                                })
                            .gradient(+[](Grad& g) -> Tensors {
                              return {g.dy() * (special::bessel_y0(g.x()) - g.y() / g.x())};
                            })
                            .keeps("x, output")
                            .samples("uniform(3, 4, low=0.5, high=9)")
                            .reference("scipy.special.y1(x)");
Tensor special::bessel_y1(const In& x) { return y1_op(x); }

static const Op k0_op =
    OP(BesselK0, &special::bessel_k0)
        .args("x")
        .python("math.special.bessel_k0")
        .dtypes(kFloats)
        .same_as_input()
        .doc("Modified Bessel function of the second kind, order 0, element by element.")
        .kernel(
            "reference",
            +[](Call& c) -> Status {
              return each(c, [](double x) { return modified(0, x, false); });
            })
        .gradient(+[](Grad& g) -> Tensors { return {-(g.dy() * special::bessel_k1(g.x()))}; })
        .keeps("x")
        .samples("uniform(3, 4, low=0.5, high=5)")
        .reference("scipy.special.k0(x)");
Tensor special::bessel_k0(const In& x) { return k0_op(x); }

static const Op k0e_op = OP(BesselK0e, &special::bessel_k0e)
                             .args("x")
                             .python("math.special.bessel_k0e")
                             .dtypes(kFloats)
                             .same_as_input()
                             .doc("e^x bessel_k0(x), element by element.")
                             .kernel(
                                 "reference",
                                 +[](Call& c) -> Status {
                                   return each(c, [](double x) { return modified(0, x, true); });
                                 })
                             .gradient(+[](Grad& g) -> Tensors {
                               return {g.dy() * (g.y() - special::bessel_k1e(g.x()))};
                             })
                             .keeps("x, output")
                             .samples("uniform(3, 4, low=0.5, high=5)")
                             .reference("scipy.special.k0e(x)");
Tensor special::bessel_k0e(const In& x) { return k0e_op(x); }

static const Op k1_op =
    OP(BesselK1, &special::bessel_k1)
        .args("x")
        .python("math.special.bessel_k1")
        .dtypes(kFloats)
        .same_as_input()
        .doc("Modified Bessel function of the second kind, order 1, element by element.")
        .kernel(
            "reference",
            +[](Call& c) -> Status {
              return each(c, [](double x) { return modified(1, x, false); });
            })
        .gradient(+[](Grad& g) -> Tensors {
          return {-(g.dy() * (special::bessel_k0(g.x()) + g.y() / g.x()))};
        })
        .keeps("x, output")
        .samples("uniform(3, 4, low=0.5, high=5)")
        .reference("scipy.special.k1(x)");
Tensor special::bessel_k1(const In& x) { return k1_op(x); }

static const Op k1e_op =
    OP(BesselK1e, &special::bessel_k1e)
        .args("x")
        .python("math.special.bessel_k1e")
        .dtypes(kFloats)
        .same_as_input()
        .doc("e^x bessel_k1(x), element by element.")
        .kernel(
            "reference",
            +[](Call& c) -> Status {
              return each(c, [](double x) { return modified(1, x, true); });
            })
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy() * (g.y() - g.y() / g.x() - special::bessel_k0e(g.x()))};
        })
        .keeps("x, output")
        .samples("uniform(3, 4, low=0.5, high=5)")
        .reference("scipy.special.k1e(x)");
Tensor special::bessel_k1e(const In& x) { return k1e_op(x); }

}  // namespace holdfast
