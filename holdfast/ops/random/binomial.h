// What the binomial ops share, stateless and of a Generator.
#pragma once

#include <vector>

#include "holdfast/op/opdef.h"
#include "holdfast/ops/random/philox.h"

namespace holdfast::random {

/// The shape of inputs `counts` and the one after it, broadcast against each other.
Shape binomial_parameters(const Infer& s, int counts);
/// Fills `out`, whose shape ends with that of the parameters.
void binomial_into(const Philox& gen, const Tensor& counts, const Tensor& probs, const Tensor& out);
/// The elements as doubles, repeated until they have `shape`.
std::vector<double> broadcast_doubles(const Tensor& t, const Shape& shape);

}  // namespace holdfast::random
