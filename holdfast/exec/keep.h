// Values of traced code that are looked at from outside without being returned.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast {

/// `tensor`, whose value stays readable: after each call of the function around it, it is that
/// call's.
///
///   Tensor hidden;
///   auto f = function([&](Tensor x) { hidden = keep(tanh(x)); return hidden * 2; });
///   f(x);
///   hidden.to_vector<float>();
///
/// Outside of a function it does nothing. Threads that call the function at once keep the value of
/// one of them: read it where no other thread calls.
HOLDFAST_API Tensor keep(In tensor);

}  // namespace holdfast
