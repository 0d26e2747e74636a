// Where the nodes of a graph run.
#pragma once

#include "holdfast/graph/graph.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {

/// Whether all of `g` runs on the first CPU where its inputs and its variables lie there. Nodes
/// follow, in this order, what was asked for, their operands, and the device of whatever nobody
/// placed.
HOLDFAST_API bool stays_on_cpu(const Graph& g);

/// The variables that `g` names itself, its branches and loops included; those among its inputs are
/// known to a call alone.
std::vector<VariableState*> variables_in(const Graph& g);

/// Whether a value lies on the first CPU, or nowhere. A handle lies where its variable does.
bool lies_on_cpu(const Tensor& t);
bool lies_on_cpu(VariableState& v);

}  // namespace holdfast
