// In which order nodes may run: what a pass asks before it joins some of them.
#pragma once

#include <unordered_map>

#include "holdfast/graph/graph.h"
#include "holdfast/op/op.h"

namespace holdfast {

/// The order of a graph as it stands. What has effects, or sees them, keeps its place among its
/// like.
class HOLDFAST_API Order {
 public:
  explicit Order(const Graph& g);

  int position(const Node* n) const { return positions_.at(n); }
  /// What must have run before the node at `i`.
  const std::vector<int>& before(int i) const { return before_[static_cast<size_t>(i)]; }
  /// Whether something that is in neither list lies between `from` and a node of `to` that needs
  /// it: both together could not be one step. Groups count as one step each; `of` gives the group
  /// of a node or -1.
  bool path_outside(const std::vector<int>& from, const std::vector<int>& to,
                    const std::vector<int>& of, const std::vector<std::vector<int>>& groups) const;
  /// All nodes, each group as one unit with its nodes in order, so that every unit follows what it
  /// needs.
  std::vector<std::vector<int>> units(const std::vector<int>& of) const;

 private:
  std::unordered_map<const Node*, int> positions_;
  std::vector<std::vector<int>> before_;
};

/// How often each node is used: by inputs, by those that wait for it, and by the graph's outputs.
std::unordered_map<const Node*, int> uses_of(const Graph& g);

/// A node of another op in the place of `n`: of its line and device, and with its name.
Ref<Node> in_place_of(const Node& n, const OpDef& op, Attrs attrs);

}  // namespace holdfast
