// Graphs inside a node: the branches and bodies of control flow.
#pragma once

#include <variant>

#include "holdfast/graph/graph.h"
#include "holdfast/op/arg_value.h"

namespace holdfast {

/// The graph that an attribute is; null for other attributes.
inline const Graph* body_in(const Arg& a) {
  auto* object = std::get_if<Ref<RefCounted>>(&a.value());
  return object ? dynamic_cast<const Graph*>(object->get()) : nullptr;
}

}  // namespace holdfast
