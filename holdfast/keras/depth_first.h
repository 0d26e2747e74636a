// The walk over the calls behind a model's outputs.
#pragma once

#include <utility>
#include <vector>

#include "holdfast/graph/graph.h"

namespace holdfast::keras {

/// The nodes between the first one and where the walk is, each with the number of inputs seen.
using WalkedPath = std::vector<std::pair<Ref<Node>, size_t>>;

/// Walks what an edge needs, without recursion, because models are deep. `enter(edge, path)` gives
/// the node to walk into, null for none; `leave(node)` is told of one once all that it needs was
/// walked.
template <class Enter, class Leave>
void depth_first(const Edge& from, Enter&& enter, Leave&& leave) {
  WalkedPath path;
  auto go = [&](const Edge& e) {
    if (Ref<Node> node = enter(e, path)) path.emplace_back(std::move(node), 0);
  };
  go(from);
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next < node->inputs.size()) {
      const Edge e = node->inputs[next++];
      go(e);
      continue;
    }
    Ref<Node> complete = std::move(node);
    path.pop_back();
    leave(complete);
  }
}

}  // namespace holdfast::keras
