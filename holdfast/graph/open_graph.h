// A graph that is written by hand and stays open, for sessions to run.
#pragma once

#include <source_location>
#include <string_view>

#include "holdfast/graph/graph.h"
#include "holdfast/op/variable.h"

namespace holdfast {

class Tracer;
class Tracing;

/// What `tf.Graph` is. Ops that are called while it is the thread's default become its nodes; its
/// tensors and sessions keep it alive. One thread writes at a time.
class HOLDFAST_API OpenGraph final : public RefCounted {
 public:
  /// Use `make_graph`.
  explicit OpenGraph(const std::string& name);
  ~OpenGraph() override;

  const Ref<Graph>& graph() const;
  const Ref<Scope>& scope() const { return graph()->scope; }
  Tracer& tracer() const { return *tracer_; }

  /// A value that each run is given.
  [[gnu::always_inline]] Tensor placeholder(
      DType dtype, Shape shape = Shape::unknown(), const std::string& name = "Placeholder",
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return add_placeholder(dtype, std::move(shape), name);
  }
  /// A value that a run may be given; else `input`.
  [[gnu::always_inline]] Tensor placeholder_with_default(
      const Tensor& input, Shape shape, const std::string& name = "PlaceholderWithDefault",
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return add_default(input, std::move(shape), name);
  }
  /// A value that is part of the graph, as a node of its own.
  Tensor constant(const In& value, const std::string& name = "Const");
  /// A variable of which each session has its own value, `initial` to begin with.
  Variable variable(const In& initial, VariableOptions options = {});
  /// One that has no value in a session before an op there assigns one.
  Variable bare_variable(DType dtype, const Shape& shape, const std::string& name,
                         const std::string& shared_name = {});
  /// An op that does nothing, after `nodes` have run.
  Ref<Node> group(std::vector<Ref<Node>> nodes, const std::string& name = "group_deps");
  /// One that gives all variables their initial values.
  Ref<Node> initializer(const std::string& name = "init");

  /// A variable of the graph, the value it begins with, and the op that gives it that value; the
  /// last two are empty where it begins without one.
  struct Held {
    Variable variable;
    Edge initial;
    Ref<Node> assign, handle;
    std::string container = {}, shared_name = {};  // how `VarHandleOp` finds it again
  };
  const std::vector<Held>& variables() const { return variables_; }
  /// The one that `handle` belongs to; null where it is none of this graph.
  const Held* find_variable(const Tensor& handle) const;
  /// Variables of one name in different containers are different ones. Gives the one in force until
  /// now.
  std::string set_container(std::string name) { return std::exchange(container_, std::move(name)); }
  const std::string& container() const { return container_; }

  /// The node of that name, or null.
  Ref<Node> find(const std::string& name) const { return Ref<Node>(graph()->find(name)); }
  /// The tensor "name:0", or an empty one.
  Tensor tensor(const std::string& name) const;
  Tensor tensor(const Edge& e) const;
  /// No more ops: each further one is refused with the user's line that called this.
  [[gnu::always_inline]] void finalize(
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    no_more();
  }

  void* wrapper = nullptr;  // the Python Graph, while there is one; not owned
  class Reader;             // fills one from text

 private:
  Tensor add_placeholder(DType, Shape shape, const std::string& name);
  Tensor add_default(const Tensor& input, Shape shape, const std::string& name);
  void no_more();

  struct Index;
  void hold(Held held);
  Held* held_by(const Tensor& handle);
  Owned<Tracer> tracer_;
  std::vector<Held> variables_;
  std::string container_;
  Owned<Index> index_;  // of each variable, by its handle's id
};

/// A new graph. `name` is what messages call it.
[[gnu::always_inline]] inline Ref<OpenGraph> make_graph(
    const std::string& name = "graph",
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return make_ref<OpenGraph>(name);
}

/// The graph as text that `graph_from_text` reads; docs/graphs.md describes the form.
HOLDFAST_API std::string graph_text(const OpenGraph& graph);
/// `name`: what messages call it; empty: as in the text.
HOLDFAST_API Ref<OpenGraph> graph_from_text(std::string_view text, const std::string& name = {});

/// Makes a graph the thread's default while it lives: `GraphScope in(graph);`
class HOLDFAST_API GraphScope {
 public:
  [[gnu::always_inline]] explicit GraphScope(
      const Ref<OpenGraph>& graph, const std::source_location& at = std::source_location::current())
      : GraphScope((mark_caller(at), graph), Entered()) {}
  ~GraphScope();
  GraphScope(const GraphScope&) = delete;

 private:
  struct Entered {};
  GraphScope(const Ref<OpenGraph>& graph, Entered);

  Ref<OpenGraph> graph_;
  std::string name_scope_;
  Owned<Tracing> tracing_;
};

/// The hand-written graph that the thread's ops go to, or null: eager code, or a traced function.
HOLDFAST_API OpenGraph* current_graph();
/// The hand-written graph that a symbol belongs to, or null.
HOLDFAST_API OpenGraph* graph_of(const Tensor& symbol);

HOLDFAST_API const OpDef& no_op();  // does nothing; what must run before it gives it its meaning

}  // namespace holdfast
