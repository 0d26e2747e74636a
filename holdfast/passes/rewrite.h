// A walk over a graph in which values are replaced by others.
#pragma once

#include <map>
#include <unordered_map>

#include "holdfast/graph/graph.h"
#include "holdfast/op/op.h"

namespace holdfast {

/// Visits the nodes of a graph in order. What a pass adds stands before the node it looks at, so
/// order, and with it every effect, is kept; what is no longer used is left for drop_dead.
class Rewriter {
 public:
  explicit Rewriter(Graph& graph);

  /// Calls `f(node)` for each node, its inputs already redirected. True if anything changed.
  template <class F>
  bool walk(F&& f) {
    std::vector<Ref<Node>> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Ref<Node>& n : nodes) {
      redirect(*n);
      now_ = n;
      f(n);
      if (!moved_.count(n.get())) graph_.nodes.push_back(std::move(n));
    }
    finish();
    return changed_;
  }

  /// From here on, `by` is used where output `output` of the node in hand was. Not done, and false,
  /// where the node was told when to run.
  bool replace(Edge by, int output = 0);
  /// Takes the node in hand out of the graph; `by` runs in its place. All that is used of it must
  /// have been replaced.
  void leave(Ref<Node> by) {
    moved_.emplace(now_.get(), std::pair(now_, std::move(by)));
    changed_ = true;
  }
  /// A node before the one in hand, of the same line and device; attributes that are not given take
  /// their defaults.
  Edge add(const OpDef& op, InlineVector<Edge, 3> inputs, Attrs attrs = {});
  Edge add(const char* op, InlineVector<Edge, 3> inputs, Attrs attrs = {});
  Edge constant(Tensor value);
  /// A constant vector of integers on the host, or one integer.
  Edge ints(const Dims& values, DType dtype = int32);
  Edge number(int64_t value, DType dtype = int32);
  /// Whether output 0 of the node in hand was replaced.
  bool replaced(const Node& n) const { return replaced_.count({&n, 0}) != 0; }
  /// How often a node's outputs were used when the walk began.
  int uses(const Node& n) const {
    auto it = uses_.find(&n);
    return it == uses_.end() ? 0 : it->second;
  }

 private:
  void redirect(Node& n);
  Edge redirected(const Edge& e) const;
  void finish();

  Graph& graph_;
  Ref<Node> now_;
  bool changed_ = false;
  std::map<std::pair<const Node*, int>, Edge> replaced_;
  std::unordered_map<const Node*, std::pair<Ref<Node>, Ref<Node>>>
      moved_;  // who left, kept alive, and who came
  std::unordered_map<const Node*, int> uses_;
};

/// What an edge is to shape rules: its value where it is a constant, else a symbol.
Tensor operand_of(const Edge& e, const Ref<Scope>& scope);
/// The value of a constant on the host; null where there is none.
const Tensor* value_of(const Edge& e);
/// The integers of a constant; nothing where it is none.
std::optional<Dims> ints_of(const Edge& e);
/// Whether the numbers that its shape rule reads are constants: where they are not, only a run can
/// tell whether they are right, and what refuses them must stay.
bool numbers_known(const Node& n);
/// Both have the same dtype, and shapes that are known and the same.
bool same_known_type(const Edge& a, const Edge& b);

}  // namespace holdfast
