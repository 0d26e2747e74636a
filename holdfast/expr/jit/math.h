// The functions of scalar_math.h over vectors: the same steps in the same order, so that machine
// code gives the bits that the loops give.
#pragma once

#include "holdfast/expr/jit/value.h"

namespace holdfast::jit {

V abs(V);
V negated(V);
V copysign(V x, V sign);
V sqrt(V);
V rsqrt(V);
/// As the processor rounds: 0 to the nearest, 1 down, 2 up, 3 towards zero.
V rounded(V, int how);

V exp(V);
V expm1(V);
V log(V);
V log1p(V);
V tanh(V);
V sigmoid(V);
V softplus(V);
/// float32 alone.
V erf(V);
/// float32 alone; computed in double.
V erfc(V);
V pow(V x, V y);
V gelu(V);
V gelu_grad(V dy, V y);
V sin(V);
V cos(V);
V tan(V);
V fmod(V x, V y);
V floormod(V x, V y);
/// What a 16-bit float holds of a float32.
V rounded_to_half(V);
V rounded_to_bfloat(V);

/// The tables that nodes read by their index.
const double* table(int index);

}  // namespace holdfast::jit
