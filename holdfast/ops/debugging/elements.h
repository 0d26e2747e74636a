// Where a condition does not hold.
#pragma once

#include <vector>

#include "holdfast/op/op.h"

namespace holdfast {

struct Failures {
  int64_t count = 0, total = 0;
  std::vector<int64_t> first;  // the places of the first ones
};
/// The elements of a bool tensor on the host that are false; the places of at most `most` of them,
/// at least one.
Failures failures_in(const Tensor& condition, int64_t most);
/// The place in `part` of what broadcasting puts at `place` of `whole`.
int64_t place_in(const Shape& part, const Shape& whole, int64_t place);
/// Refuses operands that do not broadcast to the shape of the condition, which is input 0.
void need_same_shapes(const Infer&);

}  // namespace holdfast
