// Elements set to zero at random, so that a network can't lean on any one of them.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::nn {

struct DropoutOptions {
  Axes noise_shape = {};  // drawn in this shape and broadcast; -1 stands for the input's size
  std::optional<int64_t> seed = {};
};
/// Zero with probability `rate`, else x / (1 - rate), so that the expected sum stays.
HOLDFAST_API Tensor dropout(const In& x, const In& rate, const DropoutOptions& = {});

struct StatelessDropoutOptions {
  std::optional<std::string> rng_alg = {};
  Axes noise_shape = {};
};
/// Likewise, as a pure function of `seed`, two integers.
HOLDFAST_API Tensor stateless_dropout(const In& x, const In& rate, const In& seed,
                                      const StatelessDropoutOptions& = {});

/// Likewise, by numbers in [0, 1) that the caller drew, in a shape that broadcasts to that of `x`.
HOLDFAST_API Tensor general_dropout(const In& x, const In& rate, const In& uniform);

}  // namespace holdfast::nn
