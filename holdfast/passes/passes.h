// What makes a graph better without changing what it computes.
#pragma once

#include "holdfast/graph/graph.h"

namespace holdfast {

/// A pass changes the graph it is given and says whether it did.
struct Pass {
  const char* name;
  const char* doc;
  bool (*run)(Graph&);
};

/// Drops nodes that no output and no effect needs.
HOLDFAST_API bool drop_dead(Graph&);
/// Moves updates of variables to where their values are known.
HOLDFAST_API bool early_updates(Graph&);
/// Joins elementwise nodes into Fused ones, so that what one gives the next never leaves the first cache.
HOLDFAST_API bool fuse(Graph&);
/// Adds to variables inside the loop that computes what is added.
HOLDFAST_API bool fuse_updates(Graph&);

/// All passes, in the order in which they run.
HOLDFAST_API const std::vector<Pass>& all_passes();
/// A copy of `g` after all passes.
HOLDFAST_API Ref<Graph> optimised(const Graph& g);

}  // namespace holdfast
