// The interpreter that writes ops down.
#pragma once

#include "holdfast/graph/graph.h"
#include "holdfast/ops/random/seeds.h"

namespace holdfast {

/// Writes into a graph while it lives; closes the graph's scope when it is told to or dies. While it is
/// `entered`, ops on plain values are written down too, and no tape from outside looks on.
class HOLDFAST_API Tracer final : public Interpreter {
 public:
  /// `copies`: for a graph that is a copy, what symbols of the original stand for.
  explicit Tracer(Ref<Graph> graph, const NodeMap* copies = nullptr);
  ~Tracer() override;

  Scope* scope() const override { return graph_->scope.get(); }
  void run(const OpDef&, std::span<const Tensor>, const Attrs&, Tensors& out) override;
  void custom(const char* name, const std::vector<Tensor>& in, const std::vector<Tensor>& out, const Backward&) override;

  const Ref<Graph>& graph() const { return graph_; }
  /// Numbers the graph's random ops.
  random::GraphSeeds& seeds() { return seeds_; }
  /// A new argument of the graph.
  Tensor input(DType, Shape, const std::string& name);
  /// What `t` is inside: itself, a capture, or a constant. Throws where it can't be had; `name` is what the
  /// user calls it.
  Edge resolve(const Tensor& t, const std::string& name = {});
  /// Whether a constant's value shaped the trace, so that another value may need another trace.
  bool baked(uint64_t id) const { return baked_.count(id) != 0; }
  /// Turns the constant that holds `t` into a capture, so that another value can be given at each call.
  /// False where the graph does not use it.
  bool release(const Tensor& t);
  /// Nothing more can be added. Symbols that somebody still holds are kept for `leaked`.
  void close();
  /// Symbols of this graph that were still held elsewhere when it closed.
  std::vector<Tensor> leaked;

 private:
  Edge constant(const Tensor& t);
  bool from_around(const Tensor& t) const;
  Edge capture(const Tensor& t);

  Ref<Graph> graph_;
  const NodeMap* copies_;
  std::unordered_map<uint64_t, Ref<Node>> constants_, captured_;
  std::unordered_set<uint64_t> baked_;
  std::vector<Tensor> made_;
  random::GraphSeeds seeds_;
  uint64_t first_id_ = 0;  // what has a smaller one is older than the trace
};

/// Makes `tracer` the thread's interpreter while it lives; tapes outside do not see what is traced.
class HOLDFAST_API Tracing {
 public:
  explicit Tracing(Tracer& tracer, bool shut_out_tapes);
  ~Tracing();
  Tracing(const Tracing&) = delete;

 private:
  Interpreter* was_;
  random::GraphSeeds* seeds_;
  Where lifted_;
  InlineVector<Observer*, 4> observers_;
  bool shut_out_;
};

/// Works out, as far as it can, the small integers that an op without state gives, from what is known of its
/// inputs, and notes them in the symbol it gives.
HOLDFAST_API void follow_known(const OpDef&, std::span<const Tensor> in, const Attrs&, std::span<const Tensor> out);

/// The graph that is being written on this thread, or null.
HOLDFAST_API Tracer* current_trace();
/// Whether `t` has a value now: a plain one, or what the call that traced it computed.
HOLDFAST_API bool has_value(const Tensor& t);
/// That value. Throws where there is none; `name` is what the user calls `t`.
HOLDFAST_API Tensor value(const Tensor& t, const std::string& name = {});
/// Why `t` can't be used here: born where, whose, and what to do.
HOLDFAST_API Diagnostic lost(const Tensor& t, const std::string& name);

}  // namespace holdfast
