// Special functions that are rarely called, element by element.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::special {

/// Dawson's integral: e^(-x^2) times the integral of e^(t^2) from 0 to x.
HOLDFAST_API Tensor dawsn(const In& x);
/// Exponential integral: the principal value of the integral of e^t / t up to x.
HOLDFAST_API Tensor expint(const In& x);
/// Integral of cos(pi t^2 / 2) from 0 to x.
HOLDFAST_API Tensor fresnel_cos(const In& x);
/// Integral of sin(pi t^2 / 2) from 0 to x.
HOLDFAST_API Tensor fresnel_sin(const In& x);
/// Spence's function: the integral of log(t) / (1 - t) from 1 to x.
HOLDFAST_API Tensor spence(const In& x);
/// Bessel function of the first kind, order 0.
HOLDFAST_API Tensor bessel_j0(const In& x);
/// Bessel function of the first kind, order 1.
HOLDFAST_API Tensor bessel_j1(const In& x);
/// Bessel function of the second kind, order 0.
HOLDFAST_API Tensor bessel_y0(const In& x);
/// Bessel function of the second kind, order 1.
HOLDFAST_API Tensor bessel_y1(const In& x);
/// Modified Bessel function of the second kind, order 0.
HOLDFAST_API Tensor bessel_k0(const In& x);
/// e^x bessel_k0(x).
HOLDFAST_API Tensor bessel_k0e(const In& x);
/// Modified Bessel function of the second kind, order 1.
HOLDFAST_API Tensor bessel_k1(const In& x);
/// e^x bessel_k1(x).
HOLDFAST_API Tensor bessel_k1e(const In& x);

}  // namespace holdfast::special
