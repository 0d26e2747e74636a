// How the stateless functions turn a seed into a generator.
#pragma once

#include <array>

#include "holdfast/op/in.h"
#include "holdfast/ops/random/generator.h"

namespace holdfast::random {

/// A seed as a tensor of int32 or int64; refuses one that is not two integers.
Tensor checked_seed(const In& seed);

/// Inputs `key`, `counter` and `alg` of the stateless ops.
struct KeyCounter {
  KeyCounter(const In& seed, const std::string& alg);
  Tensor key, counter, alg;
};

/// The algorithm called `name`; refuses one we do not know.
Algorithm algorithm_of(const std::string& name);

}  // namespace holdfast::random
