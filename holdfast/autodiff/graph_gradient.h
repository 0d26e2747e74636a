// The gradient of a graph, as two graphs.
#pragma once

#include <cstdint>

#include "holdfast/graph/graph.h"

namespace holdfast {

struct GraphGradient {
  Ref<Graph> forward;           // the graph's outputs, then what the gradient needs of its inside
  Ref<Graph> backward;          // takes those and then what arrives for each of `targets`; gives one gradient a source.
                                // That of a branch or a body may capture more of what is around it.
  std::vector<size_t> targets;  // outputs that a gradient can arrive for
};

/// Of the first `outputs` outputs of `g` with respect to `sources`: placeholders of `g`, or handles of variables. A
/// gradient that no path reaches is an empty edge.
HOLDFAST_API GraphGradient differentiate(const Ref<Graph>& g, const std::vector<Ref<Node>>& sources, size_t outputs = SIZE_MAX);

}  // namespace holdfast
