// Where the values of a graph lie, found without running it.
#pragma once

#include <algorithm>

#include "holdfast/passes/place.h"

namespace holdfast {

/// A walk over a graph, its branches and loops included, by the rules of eager execution.
class Whereabouts {
 public:
  /// `settled`: its nodes have their devices, which hold.
  Whereabouts(const Graph& g, std::span<Device* const> inputs, bool settled);

  /// Where a value lies; null for handles and lists that nobody knows more of.
  Device* of(const Edge& e) const;
  /// Where a node runs, and why.
  Device* device(const Node& n, Reason& reason) const;
  /// Where the outputs of a node lie if it runs on `device`.
  InlineVector<Device*, 1> outputs(const Node& n, Device* device) const;
  /// Goes on to the next node of the graph, which runs on `device`.
  void add(const Node& n, Device* device) { lies_[&n] = outputs(n, device); }
  void add(const Node& n, InlineVector<Device*, 1> lies) { lies_[&n] = std::move(lies); }

 private:
  InlineVector<Device*, 1> outputs_of_bodies(const Node& n) const;

  bool settled_;
  Device* unasked_;
  std::unordered_map<const Node*, InlineVector<Device*, 1>> lies_;
};

/// Whether the node's kernel takes operands wherever they lie.
bool takes_from_anywhere(const Node& n);
inline const InputDef& input_of(const Node& n, size_t i) {
  return n.op->inputs[std::min(i, n.op->inputs.size() - 1)];
}

}  // namespace holdfast
