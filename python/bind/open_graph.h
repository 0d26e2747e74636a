// Graphs written by hand, as Python holds them.
#pragma once

#include "holdfast/graph/open_graph.h"
#include "python/bind/py.h"

namespace holdfast::py {

/// What Python's Graph subclasses. Unhooks the Python object from the graph when it goes.
struct GraphBox {
  GraphBox() = default;
  GraphBox(const GraphBox&) = delete;
  ~GraphBox() {
    if (graph && graph->wrapper == self) graph->wrapper = nullptr;
  }
  void hook(Ref<OpenGraph> g, PyObject* object) {
    graph = std::move(g);
    self = object;
    graph->wrapper = object;
  }

  Ref<OpenGraph> graph;
  void* self = nullptr;
};

/// A node of a graph written by hand, or of what is traced, which its scope stands for.
struct NodeBox {
  Ref<Node> node;
  Ref<OpenGraph> graph;
  Ref<Scope> scope = {};

  Tensor tensor(const Edge& e) const { return graph ? graph->tensor(e) : symbol_for(e, scope); }
};

inline std::vector<Ref<Node>> nodes_of(const std::vector<NodeBox*>& list) {
  std::vector<Ref<Node>> out;
  for (NodeBox* n : list) out.push_back(n->node);
  return out;
}

}  // namespace holdfast::py
