// Arithmetic, element by element.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast {

/// x + y.
HOLDFAST_API Tensor add(const In& x, const In& y);
/// x - y.
HOLDFAST_API Tensor subtract(const In& x, const In& y);
/// x * y.
HOLDFAST_API Tensor multiply(const In& x, const In& y);
/// -x.
HOLDFAST_API Tensor negative(const In& x);
/// x * x.
HOLDFAST_API Tensor square(const In& x);
/// e to the power of x.
HOLDFAST_API Tensor exp(const In& x);
/// Gauss error function, element by element.
HOLDFAST_API Tensor erf(const In& x);

inline Tensor operator+(const In& x, const In& y) { return add(x, y); }
inline Tensor operator-(const In& x, const In& y) { return subtract(x, y); }
inline Tensor operator*(const In& x, const In& y) { return multiply(x, y); }
inline Tensor operator-(const In& x) { return negative(x); }

}  // namespace holdfast
