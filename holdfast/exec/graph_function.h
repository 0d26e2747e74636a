// A part of a graph that was written by hand, as a function.
#pragma once

#include "holdfast/exec/concrete.h"
#include "holdfast/graph/open_graph.h"

namespace holdfast {

/// What `outputs` of a graph are, as a function of `inputs`, which may be any of its tensors; each
/// call runs `ops` too. Runs what they need and nothing else, and has gradients as a traced
/// function has. A variable of the graph itself has values in sessions only, and is refused.
HOLDFAST_API Ref<ConcreteFunction> graph_function(const OpenGraph& graph,
                                                  const std::vector<Tensor>& inputs,
                                                  const std::vector<Tensor>& outputs,
                                                  const std::vector<Ref<Node>>& ops = {});

}  // namespace holdfast
