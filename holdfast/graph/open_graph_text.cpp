// A hand-written graph as text, and back: its ops are called again, one by one, under their names.
#include <unordered_map>

#include "holdfast/base/text.h"
#include "holdfast/graph/open_graph.h"
#include "holdfast/graph/text.h"
#include "holdfast/graph/trace.h"
#include "holdfast/graph/verify.h"

namespace holdfast {

class OpenGraph::Reader {
 public:
  Reader(OpenGraph& to, const Graph& from) : to_(to) {
    for (const Ref<Node>& n : from.nodes) read(*n);
    for (const Held& held : to_.variables_)
      if (!held.assign)
        fail(Code::E1103,
             cat("the graph's text gives variable `", held.variable.name(), "` no initial value"),
             "a variable of a graph begins with what its first assignment gives it");
  }

 private:
  void read(const Node& n) {
    if (n.op == &placeholder_op()) {
      made_[&n] = {to_.tracer_->input(n.outputs[0].dtype, n.outputs[0].shape, n.name)};
    } else if (n.op == &const_op()) {
      made_[&n] = {to_.tracer_->constant_node(constant_of(n), n.name)};
    } else if (n.op == &handle_op()) {
      made_[&n] = {variable(n)};
    } else {
      call(n);
    }
    nodes_[&n] = to_.graph()->nodes.back();
  }

  Tensor variable(const Node& n) {
    auto* was = variable_behind(constant_of(n));
    if (!was) fail(Code::E1103, cat("the graph's text holds `", n.name, "`, which is no variable"));
    auto state = make_ref<VariableState>(was->name, was->dtype, was->shape, was->trainable);
    state->born = here();
    state->graph = to_.scope();
    Held held{Variable(std::move(state)), {}, nullptr, nullptr};
    held.handle = to_.tracer_->resolve(held.variable.handle()).node;
    to_.graph()->rename(*held.handle, to_.graph()->unique_name(n.name));
    to_.hold(held);
    return held.variable.handle();
  }

  void call(const Node& n) {
    Tensors in, out;
    for (const Edge& e : n.inputs)
      in.push_back(e.node ? made_.at(e.node.get())[static_cast<size_t>(e.output)] : Tensor());
    std::vector<Ref<Node>> after;
    for (const Ref<Node>& before : n.after) after.push_back(nodes_.at(before.get()));
    to_.tracer_->push_control(std::move(after), true);
    struct Undo {
      Tracer& tracer;
      ~Undo() {
        tracer.pop_control();
        context().op_name.clear();
      }
    } undo{*to_.tracer_};
    context().op_name = n.name;
    to_.tracer_->run(*n.op, in, n.attrs, out);
    made_[&n] = std::move(out);
    if (n.op->traits.update != Update::kSet) return;
    Held* held = to_.held_by(in[0]);
    if (!held || held->assign) return;
    held->assign = to_.graph()->nodes.back();
    held->initial = edge_of(in[1]);
    held->variable.state()->set(symbol_for(held->initial, to_.scope()));
  }

  OpenGraph& to_;
  std::unordered_map<const Node*, Tensors> made_;
  std::unordered_map<const Node*, Ref<Node>> nodes_;
};

std::string graph_text(const OpenGraph& graph) {
  return to_text(*graph.graph(), {.most_elements = INT64_MAX});
}

Ref<OpenGraph> graph_from_text(std::string_view text, const std::string& name) {
  Ref<Graph> parsed = parse_graph(text);
  verify_text(*parsed);
  if (!parsed->captures.empty())
    fail(Code::E1103, "the graph's text has captures, which only a part of another graph has");
  auto out = make_ref<OpenGraph>(name.empty() ? parsed->scope->name : name);
  GraphScope in(out);
  context().name_scope.clear();
  OpenGraph::Reader reader(*out, *parsed);
  return out;
}

}  // namespace holdfast
