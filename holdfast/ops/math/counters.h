// What counts and sums of weights may be, and how many there are.
#pragma once

#include <optional>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

constexpr DTypes kCounters{int32, int64, float32, float64};

template <class F>
void visit_counters(DType d, F&& f) {
  visit_indices(d, f);
  if (d == float32)
    f(float{});
  else if (d == float64)
    f(double{});
}

/// The one number in a host input, if it is known; refuses a negative one.
inline std::optional<int64_t> one_size(const Infer& s, int i, const char* argument) {
  auto n = s.ints(i);
  if (!n) return std::nullopt;
  if (n->size() != 1) s.bad_value(argument, Shape(*n).text(), "one number");
  if ((*n)[0] < 0) s.bad_value(argument, cat((*n)[0]), "0 or more");
  return (*n)[0];
}

}  // namespace holdfast
