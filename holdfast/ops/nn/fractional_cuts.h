// Where the windows of a fractional pool begin, along one axis.
#pragma once

#include <vector>

#include "holdfast/ops/random/philox.h"

namespace holdfast::nn {

/// `out` + 1 positions from 0 to `in`: window i is [cuts[i], cuts[i + 1]). Where `in` is no
/// multiple of `out`, lengths differ by one, in an order that the generator says; `pseudo_random`
/// spreads them evenly from a random start. Bits are those of TensorFlow. Moves the generator on.
std::vector<int64_t> fractional_cuts(int64_t in, int64_t out, bool pseudo_random,
                                     random::Philox& gen);

}  // namespace holdfast::nn
