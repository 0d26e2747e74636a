// What counts and sums of weights may be.
#pragma once

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

}  // namespace holdfast
