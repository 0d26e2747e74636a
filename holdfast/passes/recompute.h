// How much work may be done twice for the sake of memory.
#pragma once

#include "holdfast/graph/graph.h"

namespace holdfast {

struct RecomputeLimits {
  int64_t least_peak = int64_t{256} << 20;  // bytes needed at once: who needs less is in no need
  double most_work = 1.0 / 10;              // of the work of the whole graph
  double least_gain = 1.0 / 10;  // of the bytes needed at once; for less nothing is changed
};

HOLDFAST_API bool recompute(Graph&, const RecomputeLimits&);

}  // namespace holdfast
