// What a gradient computes again instead of keeping it from the forward part.
#pragma once

#include <unordered_set>

#include "holdfast/graph/graph.h"

namespace holdfast {

/// Of `whole`, whose first `border` nodes are the forward part: nodes there that the rest had
/// better compute again. Each takes little arithmetic from values that the rest needs anyway.
/// `results` leave the forward part in any case.
std::unordered_set<const Node*> computed_again(const Graph& whole, size_t border,
                                               const std::vector<Edge>& results);

}  // namespace holdfast
