// What a node does beyond computing its outputs.
#pragma once

#include "holdfast/graph/graph.h"

namespace holdfast {

/// Changes something outside of the graph, or may: it is neither dropped nor merged nor moved
/// across another one.
bool has_effects(const Node& n);
/// Gives something else when state has changed meanwhile: it does not move across nodes with
/// effects.
bool reads_state(const Node& n);
/// Its outputs depend on its inputs and attributes alone, and nothing says when it must run.
bool is_pure(const Node& n);
/// The graphs among its attributes: branches, bodies of loops.
std::vector<const Graph*> bodies_of(const Node& n);

}  // namespace holdfast
