#include "holdfast/exec/graph_function.h"

#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/exec/session_plan.h"
#include "holdfast/op/refuse.h"

namespace holdfast {
namespace {

Edge edge_in(const OpenGraph& graph, const Tensor& t, const char* role) {
  if (t.defined() && t.is_symbolic() && symbol_of(t)->scope == graph.scope()) return edge_of(t);
  fail(Code::E1104,
       cat("`", role, "` has ", t.defined() ? type_text(t) : "nothing",
           ", which is no tensor of the graph `", graph.scope()->name, "`"),
       "a function is made of a graph's own tensors");
}

// Gradients of the user's own whose ops are all part of the copy.
void keep_customs(const Graph& whole, const NodeMap& copies, Graph& part) {
  auto inside = [&](const Tensor& t) {
    return !t.defined() || !t.is_symbolic() || symbol_of(t)->scope != whole.scope ||
           copies.count(node_of(t)) != 0;
  };
  for (const CustomGradient& c : whole.customs) {
    if (!std::all_of(c.outputs.begin(), c.outputs.end(), inside) ||
        !std::all_of(c.inputs.begin(), c.inputs.end(), inside))
      continue;
    CustomGradient kept = c;
    kept.position = part.inputs.size();
    for (size_t i = 0; i < c.position && i < whole.nodes.size(); ++i)
      kept.position += copies.count(whole.nodes[i].get());
    part.customs.push_back(std::move(kept));
  }
  if (!part.customs.empty()) part.originals = make_ref<Originals>(copies);
}

}  // namespace

Ref<ConcreteFunction> graph_function(const OpenGraph& graph, const std::vector<Tensor>& inputs,
                                     const std::vector<Tensor>& outputs,
                                     const std::vector<Ref<Node>>& ops) {
  Asked asked;
  for (const Tensor& t : inputs) asked.given.push_back(edge_in(graph, t, "inputs"));
  for (const Tensor& t : outputs) asked.edges.push_back(edge_in(graph, t, "outputs"));
  asked.ops = ops;
  Pruned pruned = prune(graph, asked,
                        {[](const OpenGraph::Held& held) -> Tensor {
                           fail(Code::E1105,
                                cat("a function of a graph that uses the graph's variable `",
                                    held.variable.name(), "` is not supported"),
                                "a variable of a graph has values in sessions, and none of its own",
                                {manual_fix("make the variable outside of the graph")});
                         },
                         [](const Node& n) { return n.state; }});
  keep_customs(*graph.graph(), pruned.copies, *pruned.graph);
  return make_ref<ConcreteFunction>(pruned.graph);
}

}  // namespace holdfast
