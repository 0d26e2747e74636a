// Nodes and edges as keys of maps.
#pragma once

#include <functional>
#include <unordered_map>

#include "holdfast/graph/graph.h"

namespace holdfast {

/// An edge as a key of maps; whoever uses it keeps the node alive.
using EdgeKey = std::pair<const Node*, int>;
struct EdgeHash {
  size_t operator()(const EdgeKey& k) const {
    return std::hash<const void*>{}(k.first) * 31 + static_cast<size_t>(k.second);
  }
};
inline EdgeKey key_of(const Edge& e) { return {e.node.get(), e.output}; }

/// From a graph's nodes to those of a copy.
struct NodeMap final : std::unordered_map<const Node*, Ref<Node>> {
  using unordered_map::unordered_map;
};

/// One that graphs share.
struct Originals final : RefCounted {
  explicit Originals(NodeMap copies) : nodes(std::move(copies)) {}
  const NodeMap nodes;
};

}  // namespace holdfast
