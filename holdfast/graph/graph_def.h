// A graph in TensorFlow's own format, for the tools that read it.
#pragma once

#include "holdfast/graph/graph.h"

namespace holdfast {

/// The bytes of a `GraphDef` protobuf: nodes, inputs, devices, attributes, and the shapes of
/// outputs.
HOLDFAST_API std::string graph_def(const Graph&);

}  // namespace holdfast
