// Activation functions.
#pragma once

#include "holdfast/op/in.h"
#include "holdfast/ops/math.h"

namespace holdfast::nn {

using holdfast::sigmoid;
using holdfast::softplus;
using holdfast::softsign;
using holdfast::tanh;

/// max(x, 0).
HOLDFAST_API Tensor relu(const In& features);
/// min(max(x, 0), 6).
HOLDFAST_API Tensor relu6(const In& features);
/// x, and e^x - 1 where x < 0.
HOLDFAST_API Tensor elu(const In& features);
/// scale * x, and scale * alpha * (e^x - 1) where x < 0: keeps mean 0 and variance 1.
HOLDFAST_API Tensor selu(const In& features);
struct LeakyReluOptions {
  double alpha = 0.2;
};
/// x, and alpha * x where x < 0; integers become float32.
HOLDFAST_API Tensor leaky_relu(const In& features, const LeakyReluOptions& = {});
struct GeluOptions {
  bool approximate = false;
};
/// x times the standard normal distribution function at x; `approximate` takes tanh for it.
HOLDFAST_API Tensor gelu(const In& features, const GeluOptions& = {});
struct SiluOptions {
  MaybeIn beta = {};
};
/// x * sigmoid(beta * x); beta is 1 where it is not given.
HOLDFAST_API Tensor silu(const In& features, const SiluOptions& = {});
/// Another name of `silu`.
HOLDFAST_API Tensor swish(const In& features, const SiluOptions& = {});
struct CreluOptions {
  int64_t axis = -1;
};
/// relu of x and of -x, one after the other along `axis`.
HOLDFAST_API Tensor crelu(const In& features, const CreluOptions& = {});

}  // namespace holdfast::nn
