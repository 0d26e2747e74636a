// Ops that a graph may have and nobody here can run.
#pragma once

#include "holdfast/graph/open_graph.h"

namespace holdfast {

/// Adds an op of a type that is not known, which gives tensors of `dtypes` and of any shape. A run
/// that needs it is refused by its name.
HOLDFAST_API Ref<Node> add_foreign(OpenGraph& graph, const std::string& type,
                                   const std::vector<Tensor>& inputs,
                                   const std::vector<DType>& dtypes, const std::string& name = {});

}  // namespace holdfast
