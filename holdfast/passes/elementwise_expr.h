// One node of a graph as an expression that others can join.
#pragma once

#include "holdfast/expr/fused.h"
#include "holdfast/graph/graph.h"

namespace holdfast {

/// How a node of one elementwise op becomes an instruction; nothing for other nodes.
std::optional<FusedForm> elementwise_form(const Node& n);
/// The expression of a node of one elementwise op; null for other nodes.
Ref<Expr> elementwise_expr(const Node& n);
/// The expression of a node that gives one value, over any shape: its own where it is
/// fused, or made of its one op. Null where there is none.
Ref<Expr> expression_of(const Node& n);

}  // namespace holdfast
