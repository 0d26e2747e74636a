// From what a run is asked for to what must be computed.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/exec/session.h"
#include "holdfast/exec/shared_variables.h"
#include "holdfast/graph/node_map.h"

namespace holdfast {

/// The part of a graph that some outputs need, once others are given.
struct Pruned {
  Ref<Graph> graph;  // a copy: its inputs are what is given, its outputs what was asked for
  std::vector<const OpenGraph::Held*> reads;  // variables whose values it uses
  NodeMap copies;                             // from nodes of the whole
};

struct Asked {
  std::vector<Edge> edges;         // outputs
  std::vector<Ref<Node>> ops;      // must run too
  std::vector<Edge> given;         // have values already
  std::vector<std::string> names;  // what messages call the outputs, if not by their nodes
  Tensor only = {};                // the tensor that the user asked for, if it is one
  const std::unordered_set<const Node*>* done = nullptr;  // have run already, and don't run again
};

/// What the program calls a node: the name it gave, else the variable that the node's line assigns
/// it to.
std::string called(const Node& n);
/// What the user's line calls the tensor it asks for; empty if that is not clear.
std::string name_in_line(const Tensor& t, bool only = true);

/// What a session has of its own: the variable that stands for one of the graph's, and what a node
/// keeps from run to run.
struct Own {
  std::function<Tensor(const OpenGraph::Held&)> handle;
  std::function<Ref<RefCounted>(const Node&)> state;
};

/// A placeholder that is not given raises E0801.
Pruned prune(const OpenGraph& graph, const Asked& asked, const Own& own);

/// What a session keeps from run to run.
struct Session::Kept {
  using Key = std::vector<EdgeKey>;
  std::mutex mutex;         // guards what follows; held for short
  std::mutex initialising;  // one thread at a time gives variables their first values
  std::map<Key, Ref<Planned>> plans;
  Ref<SharedVariables> shared;                   // null: the variables are its own
  std::unordered_map<uint64_t, Tensor> handles;  // by the id of the graph's own handle
  std::unordered_map<const Node*, Ref<RefCounted>>
      states;  // where the generators of random ops stand
};

}  // namespace holdfast
