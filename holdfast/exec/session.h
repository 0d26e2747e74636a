// Running a graph that was written by hand.
#pragma once

#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/base/owned.h"
#include "holdfast/graph/open_graph.h"

namespace holdfast {

class SharedVariables;

/// What a run is asked for: a tensor's value, or that an op has run.
struct Fetch {
  Fetch(Tensor t) : tensor(std::move(t)) {}
  Fetch(Ref<Node> n) : node(std::move(n)) {}
  Tensor tensor;   // a symbol of the graph, or any tensor that has a value
  Ref<Node> node;  // an op of the graph, if there is no tensor
};

/// Values of a graph's variables, and the runs that use them. Any number of threads may run at
/// once.
class HOLDFAST_API Session {
 public:
  using Feeds = std::vector<std::pair<Tensor, Tensor>>;  // a tensor of the graph, and the value it
                                                         // has in this run

  /// `name` is what messages call it.
  [[gnu::always_inline]] explicit Session(
      Ref<OpenGraph> graph, std::string name = "session",
      const std::source_location& at = std::source_location::current())
      : Session((mark_caller(at), std::move(graph)), std::move(name), Opened()) {}
  Session(const Session&) = delete;
  ~Session();

  /// The values of `fetches`, computed from `feeds`; an op's is empty. Runs what they need and
  /// nothing else. Variables that nobody has initialised get their initial values first.
  [[gnu::always_inline]] Tensors run(
      const std::vector<Fetch>& fetches, const Feeds& feeds = {},
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return run_now(fetches, feeds);
  }
  [[gnu::always_inline]] Tensor run(
      const Tensor& fetch, const Feeds& feeds = {},
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return run_one(fetch, feeds);
  }

  /// The first half of a run, which looks at the graph: nobody may write to it meanwhile.
  struct Ready : RefCounted {};
  Ref<Ready> prepare(const std::vector<Fetch>& fetches, const Feeds& feeds);
  /// The second half, which only computes.
  Tensors finish(Ready& ready);

  /// Lets go of the variables' values; a later run is refused. `at_end_of_block`: a block that
  /// owned it has ended.
  [[gnu::always_inline]] void close(
      bool at_end_of_block = false,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    let_go(at_end_of_block);
  }
  bool closed() const;
  const Ref<OpenGraph>& graph() const { return graph_; }
  /// The value that a variable of the graph has here; empty: nobody has initialised it.
  Tensor value(const Variable& v);
  void set_value(const Variable& v, Tensor value);
  /// From now on its variables are those of `shared`, which other sessions see too. Called before
  /// the first run.
  void share(Ref<SharedVariables> shared);
  /// Plans that are kept for runs with the same fetches and feeds.
  size_t plans() const;

 private:
  friend class PartialRun;
  struct Opened {};
  Session(Ref<OpenGraph> graph, std::string name, Opened);
  Tensors run_now(const std::vector<Fetch>& fetches, const Feeds& feeds);
  Tensor run_one(const Tensor& fetch, const Feeds& feeds);
  void let_go(bool at_end_of_block);
  struct Planned;
  struct Prepared;
  struct Kept;
  Ref<Planned> plan(const std::vector<Edge>& edges, const std::vector<Ref<Node>>& ops,
                    const std::vector<Edge>& fed, const std::vector<std::string>& names,
                    const Tensor& only = {});
  void initialise(Prepared& ready, const Planned& of, const std::vector<Edge>& fed);
  Tensor& handle_here(const OpenGraph::Held& held);
  Ref<RefCounted> state_here(const Node& n);
  Edge edge_of_fetch(const Tensor& t, bool only) const;
  Edge edge_of_feed(const Tensor& key, const Tensor& value) const;
  [[noreturn]] void other_graph(const Tensor& t, const std::string& name, bool fed) const;
  void need_open() const;

  Ref<OpenGraph> graph_;
  std::string name_;
  Where opened_ = nullptr, closed_at_ = nullptr;
  bool closed_ = false, closed_by_block_ = false;
  Owned<Kept> kept_;  // from run to run
};

}  // namespace holdfast
