// One node of a graph as an expression that others can join.
#pragma once

#include "holdfast/expr/fused.h"
#include "holdfast/graph/graph.h"

namespace holdfast {

/// The expression of a node of one elementwise op, not finished; null for other nodes.
Ref<Expr> elementwise_expr(const Node& n);

}  // namespace holdfast
