// The state of a Generator, as ops see it: a Variable of int64.
#pragma once

#include "holdfast/op/op.h"
#include "holdfast/ops/random/generator.h"

namespace holdfast::random {

/// Ops that read the state in input 0, fill a tensor from it and move it on.
extern const Op stateful_uniform, stateful_normal, stateful_truncated_normal, stateful_full_int,
    stateful_int, stateful_binomial, rng_read_and_skip, nondeterministic_ints;

}  // namespace holdfast::random
