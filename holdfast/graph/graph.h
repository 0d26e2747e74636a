// Ops written down: nodes in an order in which they may run.
#pragma once

#include <string>
#include <vector>

#include "holdfast/base/owned.h"
#include "holdfast/op/arg.h"
#include "holdfast/op/context.h"
#include "holdfast/tensor/scope.h"

namespace holdfast {

class Node;

/// One output of a node. An optional input that is not there has no node.
struct Edge {
  Ref<Node> node;
  int output = 0;
  bool operator==(const Edge& o) const { return node == o.node && output == o.output; }
};

/// What is known of an output before it is computed.
struct Type {
  DType dtype = DType::kInvalid;
  Shape shape;
  bool operator==(const Type&) const = default;
};

/// One op of a graph.
class HOLDFAST_API Node final : public RefCounted {
 public:
  Node(const OpDef* of, Attrs with) : op(of), attrs(std::move(with)) {}

  const OpDef* op;
  Attrs attrs;
  InlineVector<Edge, 3> inputs;
  InlineVector<Type, 1> outputs;
  std::vector<Ref<Node>> after;  // must have run before it, though it uses nothing of theirs
  std::string name;              // unique in its graph
  Where where = nullptr;         // the user's line
  Device* device = nullptr;      // where it was asked to run; null: wherever its operands are
  Where placed = nullptr;        // the line that asked
  bool again = false;            // computes a value a second time, so that it need not be kept
  Ref<RefCounted> state;         // what it keeps from run to run, as its copies do: a generator
  Ref<RefCounted>
      gradient;  // what its gradient made it keep, so that a second one need not do it again

  bool is(const char* op_name) const;
  std::string text() const override { return name; }

 protected:
  void destroy() const noexcept override;  // a long chain of nodes must not be freed by recursion
};

/// What a graph uses of the scope around it.
struct Capture {
  Tensor outer;
  Ref<Node> inner;  // a Placeholder
};

/// Something in the graph with a gradient of its own.
struct CustomGradient {
  std::string name;
  size_t position;  // nodes that were there when it was recorded
  std::vector<Tensor> inputs, outputs;
  Backward backward;
};

/// Code that wrote nodes went by what was known of a tensor before it was computed.
struct Reading {
  Edge of;
  Shape sizes;     // what was known of its shape
  Tensor numbers;  // its elements, where those were read
  size_t at;       // nodes that were there then: what was written is behind them
  Where where;     // the line that was executing; null: a branch or a body was being written
};

struct NodeMap;    // graph/node_map.h
struct Originals;  // likewise

class HOLDFAST_API Graph final : public RefCounted {
 public:
  explicit Graph(Ref<Scope> of);
  ~Graph() override;

  const Ref<Scope> scope;
  std::vector<Ref<Node>> nodes;
  std::vector<Ref<Node>> inputs;  // Placeholders, in the order of the arguments
  std::vector<Edge> outputs;
  std::vector<Capture> captures;  // their inner nodes are further inputs, after the arguments
  std::vector<CustomGradient> customs;
  std::vector<Reading> readings;  // kept where somebody may feed what was read
  Ref<Originals>
      originals;  // in a copy: what its customs speak of, and what stands for that here; else null
  bool finalized = false;
  mutable Ref<RefCounted> compiled;  // how it runs as a branch or a body, once it has
  Where finalized_at = nullptr;

  /// `base`, or `base_1`, `base_2`, ... where that is taken. Case does not tell names apart.
  std::string unique_name(const std::string& base);
  /// The node of that name, or null.
  Node* find(const std::string& name) const;
  /// Where a node of the graph stands among the others.
  size_t position(const Node& node) const;
  /// Gives a node of the graph another name, which `unique_name` has given out.
  void rename(Node& node, const std::string& name);
  /// Appends a node and gives it a name.
  void add(Ref<Node> node, const std::string& base);
  /// Appends a node that has a name of `unique_name` already.
  void append(Ref<Node> node) { nodes.push_back(std::move(node)); }
  /// Puts the nodes from `from` on, which were written last, before the one at `to`.
  void move_back(size_t from, size_t to);
  /// Another graph with the same nodes, to which more can be added.
  Ref<Graph> continued() const;
  /// Number of distinct inputs: arguments and captures.
  size_t arity() const { return inputs.size() + captures.size(); }
  /// As text that `parse_graph` reads back.
  std::string text() const override;

 private:
  struct Names;
  Names& index() const;
  const Owned<Names> names_;
};

/// Ops that the graph itself gives meaning to.
HOLDFAST_API const OpDef& placeholder_op();  // an input: attributes dtype, shape
HOLDFAST_API const OpDef& const_op();        // a value: attribute value
HOLDFAST_API const OpDef& handle_op();       // a variable's handle: attribute value

/// The tensor that a Const or a variable's handle holds.
HOLDFAST_API const Tensor& constant_of(const Node& n);
inline bool is_constant(const Node& n) { return n.op == &const_op() || n.op == &handle_op(); }
inline const Type& type_of(const Edge& e) { return e.node->outputs[static_cast<size_t>(e.output)]; }

/// A node that does what `n` does, without a name, and without what it uses or waits for.
HOLDFAST_API Ref<Node> copy_of(const Node& n);
/// A Placeholder for a value of that type.
HOLDFAST_API Ref<Node> placeholder_for(const Type& type, Where where);

/// A fresh symbol for an output, living in `scope`.
HOLDFAST_API Tensor symbol_for(const Edge& e, const Ref<Scope>& scope);
inline Node* node_of(const Tensor& symbol) {
  return static_cast<Node*>(symbol_of(symbol)->node.get());
}
inline Edge edge_of(const Tensor& symbol) {
  return {Ref<Node>(node_of(symbol)), symbol_of(symbol)->output};
}

/// The nodes that must run for `e` to be computed, in an order in which they may.
HOLDFAST_API std::vector<Ref<Node>> needed_for(const Edge& e);

/// Writes the nodes of `g` again where ops are written now, with `inputs` (arguments, then
/// captures) in place of its own. Gives its outputs.
HOLDFAST_API Tensors replay(const Graph& g, std::span<const Tensor> inputs);

/// A copy whose nodes may be changed. Bodies of loops and branches are shared until a pass replaces
/// them.
HOLDFAST_API Ref<Graph> clone(const Graph&, NodeMap* copies = nullptr);

}  // namespace holdfast
