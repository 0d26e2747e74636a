// The interpreter that writes ops down.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>

#include "holdfast/graph/node_map.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/random/seeds.h"

namespace holdfast {

/// Writes into a graph while it lives; closes the graph's scope when it is told to or dies. While
/// it is `entered`, ops on plain values are written down too, and no tape from outside looks on.
class HOLDFAST_API Tracer final : public Interpreter {
 public:
  /// `copies`: for a graph that is a copy, what symbols of the original stand for. `home`: for a
  /// graph that is never closed, what its symbols keep alive; not owned.
  explicit Tracer(Ref<Graph> graph, const NodeMap* copies = nullptr, RefCounted* home = nullptr);
  ~Tracer() override;

  Scope* scope() const override { return graph_->scope.get(); }
  void run(const OpDef&, std::span<const Tensor>, const Attrs&, Tensors& out) override;
  void custom(const char* name, const std::vector<Tensor>& in, const std::vector<Tensor>& out,
              const Backward&) override;
  void went_by(const Tensor& t, bool numbers) override;

  const Ref<Graph>& graph() const { return graph_; }
  RefCounted* home() const { return home_; }
  /// Numbers the graph's random ops.
  random::GraphSeeds& seeds() { return seeds_; }
  /// A new argument of the graph.
  Tensor input(DType, Shape, const std::string& name);
  /// A symbol for one of the graph's edges.
  Tensor symbol(const Edge& e) const;
  /// A node that holds `t`, a new one each time.
  Tensor constant_node(const Tensor& t, const std::string& name);
  /// What this thread adds from now on runs after `nodes` too; `clear`: after these alone. Undone
  /// by `pop_control`.
  void push_control(std::vector<Ref<Node>> nodes, bool clear = false);
  void pop_control();
  /// What is added now must run after these.
  std::vector<Ref<Node>> control() const;
  /// Calls `watch` with each node that this thread adds from now on. Undone by `pop_watcher`.
  using Watcher = std::function<void(const Ref<Node>&)>;
  void push_watcher(Watcher watch);
  void pop_watcher();
  /// A node of a graph around this one, a branch's or a body's, that has to run before it: before
  /// the op that the branch or the body is part of.
  struct Wait {
    Ref<Scope> scope;
    Ref<Node> node;
  };
  void wait_for(Wait wait);
  const std::vector<Wait>& waits() const { return waits_; }
  /// What `t` is inside: itself, a capture, or a constant. Throws where it can't be had; `name` is
  /// what the user calls it.
  Edge resolve(const Tensor& t, const std::string& name = {});
  /// Whether a constant's value shaped the trace, so that another value may need another trace.
  bool baked(uint64_t id) const { return baked_.count(id) != 0; }
  /// Turns the constant that holds `t` into a capture, so that another value can be given at each
  /// call. False where the graph does not use it.
  bool release(const Tensor& t);
  /// Nothing more can be added. Symbols that somebody still holds are kept for `leaked`.
  void close();
  /// Symbols of this graph that were still held elsewhere when it closed.
  std::vector<Tensor> leaked;

 private:
  // What one `push_control` asks for, and the nodes that do so already.
  struct Control {
    std::vector<Ref<Node>> nodes;
    bool alone;
    std::unordered_set<const Node*> obey;
  };
  // What one thread has asked for.
  struct Here {
    std::vector<Control> control;
    std::vector<Watcher> watchers;
  };
  std::vector<Ref<Node>> control_for(std::span<const Edge> inputs) const;
  void added(const Ref<Node>& node);
  Edge constant(const Tensor& t);
  Tensor made(const Edge& e);
  bool from_around(const Tensor& t) const;
  Edge capture(const Tensor& t);
  void note_reading(const Edge& e, const Tensor& numbers, Where where);

  Ref<Graph> graph_;
  const NodeMap* copies_;
  std::unordered_map<uint64_t, Ref<Node>> constants_, captured_;
  std::unordered_set<uint64_t> baked_;
  std::vector<Tensor> made_;
  random::GraphSeeds seeds_;
  uint64_t first_id_ = 0;  // what has a smaller one is older than the trace
  bool may_be_fed_;        // it is a graph by hand, or a part of one
  std::string operand_;    // what a constant is called that an op is given as an operand
  RefCounted* home_;
  std::unordered_map<const Node*, std::vector<Tensor>>
      plain_;  // symbols that custom gradients hold, which keep nothing
  mutable std::mutex here_mutex_;
  std::unordered_map<std::thread::id, Here> here_;
  std::vector<Wait> waits_;
};

/// Makes `tracer` the thread's interpreter while it lives; tapes outside do not see what is traced.
class HOLDFAST_API Tracing {
 public:
  explicit Tracing(Tracer& tracer, bool shut_out_tapes);
  ~Tracing();
  Tracing(const Tracing&) = delete;
  /// Who was in force before.
  Interpreter* was() const { return was_; }

 private:
  Interpreter* was_;
  random::GraphSeeds* seeds_;
  Where lifted_;
  std::optional<NoTapes> unseen_;
};

/// Names what one call makes: its result `name`, whatever it takes on the way `name/...`. Does
/// nothing where the call is not written down.
class HOLDFAST_API NamedCall {
 public:
  NamedCall(const std::string& name, std::span<const Tensor> operands);
  ~NamedCall();
  NamedCall(const NamedCall&) = delete;
  /// Gives the name to what was made last of `result`.
  void finish(const Tensor& result);

 private:
  Tracer* tracer_ = nullptr;
  size_t before_ = 0;
  std::string name_, scope_;
};

/// Works out, as far as it can, the small integers that an op without state gives, from what is
/// known of its inputs, and notes them in the symbol it gives.
HOLDFAST_API void follow_known(const OpDef&, std::span<const Tensor> in, const Attrs&,
                               std::span<const Tensor> out);

/// The graph that is being written on this thread, or null.
HOLDFAST_API Tracer* current_trace();
/// Whether `t` has a value now: a plain one, or what the call that traced it computed.
HOLDFAST_API bool has_value(const Tensor& t);
/// That value. Throws where there is none; `name` is what the user calls `t`.
HOLDFAST_API Tensor value(const Tensor& t, const std::string& name = {});
/// Why `t` can't be used here: born where, whose, and what to do.
HOLDFAST_API Diagnostic lost(const Tensor& t, const std::string& name);

}  // namespace holdfast
