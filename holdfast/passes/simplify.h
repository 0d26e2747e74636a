// Rules that replace one node by something simpler.
#pragma once

#include <span>

#include "holdfast/passes/rewrite.h"

namespace holdfast {

/// Looks at a node in hand; replaces its output where it can.
using Rule = void (*)(Rewriter&, const Ref<Node>&);

struct NamedRule {
  const char* op;
  Rule rule;
};

std::span<const NamedRule> arithmetic_rules();
std::span<const NamedRule> shape_rules();
std::span<const NamedRule> broadcast_rules();
std::span<const NamedRule> transpose_rules();
std::span<const NamedRule> relaxed_rules();

/// The permutation of a Transpose with axes counted from the front; nothing where it is not known.
std::optional<Dims> permutation(const Node& n);

/// Applies rules by op, in one walk.
bool apply_rules(Graph& g, std::span<const NamedRule> rules);

}  // namespace holdfast
