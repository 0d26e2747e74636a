#include "holdfast/autodiff/residuals.h"

#include <algorithm>
#include <unordered_map>

#include "holdfast/expr/expr.h"
#include "holdfast/graph/node_map.h"

namespace holdfast {
namespace {

constexpr int64_t kLeastElements = 4096;  // fewer are kept at no cost to speak of
constexpr int kMostNodes = 8;             // one after the other, from what is kept

// Whether computing it costs less than writing the result to memory and reading it back.
bool is_light(const Node& n) {
  if (n.outputs.size() != 1 || !n.after.empty() || n.op->traits.stateful || n.op->traits.reads)
    return false;
  if (n.op->traits.view) return true;
  if (!n.op->elementwise) return false;
  switch (n.op->scalar) {
    case Scalar::kNeg:
    case Scalar::kAbs:
    case Scalar::kSquare:
    case Scalar::kAdd:
    case Scalar::kSub:
    case Scalar::kMul:
    case Scalar::kMaximum:
    case Scalar::kMinimum:
    case Scalar::kSquaredDifference:
    case Scalar::kClip:
    case Scalar::kMulAdd:
    case Scalar::kRelu:
    case Scalar::kRelu6:
    case Scalar::kLeakyRelu:
    case Scalar::kReluGrad:
    case Scalar::kLess:
    case Scalar::kLessEqual:
    case Scalar::kGreater:
    case Scalar::kGreaterEqual:
    case Scalar::kEqual:
    case Scalar::kNotEqual: return true;
    default: return false;
  }
}

bool is_large(const Type& t) { return !t.shape.is_full() || t.shape.size() >= kLeastElements; }

}  // namespace

std::unordered_set<const Node*> computed_again(const Graph& whole, size_t border,
                                               const std::vector<Edge>& results) {
  std::unordered_set<EdgeKey, EdgeHash> needed;
  for (size_t i = border; i < whole.nodes.size(); ++i)
    for (const Edge& e : whole.nodes[i]->inputs)
      if (e.node) needed.insert(key_of(e));
  for (const Edge& e : whole.outputs)
    if (e.node) needed.insert(key_of(e));
  std::unordered_set<EdgeKey, EdgeHash> leaving;
  for (const Edge& e : results)
    if (e.node) leaving.insert(key_of(e));

  std::unordered_map<const Node*, int>
      depth;  // of nodes that can be computed again from what is kept
  std::unordered_set<const Node*> again;
  for (size_t i = 0; i < border; ++i) {
    const Node& n = *whole.nodes[i];
    EdgeKey own{&n, 0};
    if (leaving.count(own) || !is_light(n)) continue;
    int most = 0;
    bool can = true;
    for (const Edge& e : n.inputs) {
      if (!e.node || is_constant(*e.node)) continue;
      if (auto it = depth.find(e.node.get()); it != depth.end())
        most = std::max(most, it->second);
      else
        can = can && needed.count(key_of(e));
    }
    if (!can || most >= kMostNodes) continue;
    if (needed.count(own) && !is_large(n.outputs[0])) continue;
    depth.emplace(&n, most + 1);
    again.insert(&n);
  }
  return again;
}

}  // namespace holdfast
