// A function that has been traced: its graph, its plan, its gradient.
#pragma once

#include <mutex>

#include "holdfast/autodiff/graph_gradient.h"
#include "holdfast/exec/plan.h"

namespace holdfast {

/// One trace of a function, ready to be called from any thread.
class HOLDFAST_API ConcreteFunction final : public RefCounted {
 public:
  explicit ConcreteFunction(Ref<Graph> graph) : graph_(std::move(graph)) {}

  const std::string& name() const { return graph_->scope->name; }
  const Graph& graph() const { return *graph_; }
  /// The graph as it runs, and its plan; made when first needed.
  const Plan& plan();

  /// Whether a call takes long enough for other threads to be let in.
  bool worth_unlocking();

  /// Runs it on its arguments and captures. Tapes see one op with a gradient of its own; inside a trace the
  /// graph is written into that one.
  Tensors call(std::span<const Tensor> inputs);
  /// The same with what it captured when it was traced.
  Tensors call_as_traced(std::span<const Tensor> arguments);
  /// Runs it for the first time, and gives symbols that left the trace the values they have in this call.
  Tensors first_call(std::span<const Tensor> inputs, const std::vector<Tensor>& leaked);

 private:
  struct Gradient;
  Tensors call_recorded(std::span<const Tensor> inputs);
  Tensors written(std::span<const Tensor> inputs) const;
  std::shared_ptr<Gradient> gradient();

  Ref<Graph> graph_;
  std::mutex mutex_;
  Ref<Plan> plan_;
  std::shared_ptr<Gradient> gradient_;
};

}  // namespace holdfast
