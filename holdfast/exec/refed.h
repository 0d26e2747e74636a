// A graph written again for values that are fed: what was known when it was written may be known no
// more.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/graph/graph.h"
#include "holdfast/graph/node_map.h"

namespace holdfast {

/// What the nodes of a graph rest on, beyond what they use.
class Rests {
 public:
  explicit Rests(const Graph& g);
  /// Readings of the code that wrote `n`, as indices into the graph's.
  std::span<const size_t> readings(const Node& n) const;
  /// Whether `n` is one of several nodes that one call wrote: such a call looks at shapes to decide
  /// what to write, while an op that stands alone is computed from whatever arrives.
  bool together(const Node& n) const { return together_.count(&n) != 0; }

 private:
  std::unordered_map<const Node*, std::vector<size_t>> readings_;
  std::unordered_set<const Node*> together_;
};

/// Writes copies of a graph's nodes, one after the other, into a graph in which some tensors have
/// other values than the original was written for. Types and known numbers are found anew from
/// there on, also in branches and bodies; where code rests on what is not known any more, the run
/// checks that it still holds (E0804).
class Refed {
 public:
  /// `fed`: what messages call the tensors that are fed and were counted on; empty: none is.
  Refed(const Graph& from, Graph& to, std::string fed);

  /// `input` stands for `original`; `other`: it may have another value than `from` was written for.
  void given(const Edge& original, const Ref<Node>& input, bool other);
  /// What stands for an edge of the original graph.
  Edge at(const Edge& original) const;
  /// Adds `copy`, a copy of `n` that has neither inputs nor a name yet.
  void add(const Node& n, Ref<Node> copy);
  /// All that was added, by the originals.
  const NodeMap& copies() const { return copies_; }

 private:
  bool other(const Edge& e) const { return other_.count(key_of(e)) != 0; }
  Tensor operand(const Edge& e);
  void retype(const Node& n, Node& copy, const Tensors& in);
  void rewrite_bodies(Node& copy, const Tensors& in);
  Ref<Graph> rewritten(const Graph& body, std::span<const Tensor> arguments,
                       std::span<const Tensor> captures, std::span<const bool> loose,
                       const std::vector<bool>& others);
  void hold(const Node& n, Node& copy);
  void still(const Edge& original, const Shape& sizes, const Tensor& numbers, const Node& reader,
             Node& copy);

  const Graph& from_;
  Graph& to_;
  std::string fed_;
  std::optional<Rests> rests_;  // empty where nothing is fed that was counted on
  NodeMap copies_;
  std::unordered_map<EdgeKey, Ref<Node>, EdgeHash> inputs_;  // of the originals that are given
  std::unordered_set<EdgeKey, EdgeHash> other_;              // edges of `to_`
  std::unordered_map<EdgeKey, Tensor, EdgeHash> symbols_;    // of edges of `to_`
  std::unordered_map<const Node*, Tensor> handles_;          // of captured variables
  std::unordered_map<EdgeKey, std::vector<Ref<Node>>, EdgeHash> stills_;
};

}  // namespace holdfast
