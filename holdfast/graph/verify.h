// Whether a graph is one.
#pragma once

#include "holdfast/graph/graph.h"

namespace holdfast {

/// Throws a bug (E1599) that names the node, unless nodes come after what they use, edges, inputs,
/// captures and outputs are in the graph, names are unique, and types are what the ops' shape rules
/// say. `when` is said in the message: "after cse".
HOLDFAST_API void verify(const Graph& g, const std::string& when = {});
/// The same for a graph whose text somebody wrote: E1103 is the writer's mistake.
HOLDFAST_API void verify_text(const Graph& g);

}  // namespace holdfast
