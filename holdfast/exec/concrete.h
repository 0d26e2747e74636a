// A function that has been traced: its graph, its plan, its gradient.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "holdfast/autodiff/graph_gradient.h"
#include "holdfast/exec/plan.h"
#include "holdfast/exec/trace_state.h"

namespace holdfast {

/// One trace of a function, ready to be called from any thread.
class HOLDFAST_API ConcreteFunction final : public RefCounted {
 public:
  explicit ConcreteFunction(Ref<Graph> graph) : graph_(std::move(graph)) {}

  const std::string& name() const { return graph_->scope->name; }
  const Graph& graph() const { return *graph_; }
  /// Handles of the variables it uses.
  const std::vector<Tensor>& variables() const;
  /// The graph as it runs, and its plan; made when first needed.
  const Plan& plan();

  /// Whether other threads are to be let in during a call: it takes long, or may have to wait.
  /// Never waits itself.
  bool worth_unlocking() const;

  /// From now on calls run one after the other: it has state of its own that each call begins anew.
  void run_alone() { alone_ = std::make_shared<std::recursive_mutex>(); }

  /// What its graph calls and does not keep alive, since that may hold the function again: Python
  /// code. A lease keeps it alive; a tape that outlives the function holds one.
  using Lease = std::function<std::shared_ptr<void>()>;
  void set_lease(Lease lease) { lease_ = std::move(lease); }

  /// Runs it on its arguments and captures. Tapes see one op with a gradient of its own; inside a
  /// trace the graph is written into that one.
  Tensors call(std::span<const Tensor> inputs);
  /// The same with what it captured when it was traced, and what its state holds now.
  Tensors call_as_traced(std::span<const Tensor> arguments);
  /// The two halves of that: appends the captures to the arguments, which is refused where the
  /// state is another; and runs it, and leaves behind what the code does.
  bool add_captured(Tensors& inputs) const;
  Tensors call_with_state(std::span<const Tensor> inputs);
  void set_state(Ref<TraceState> state) { state_ = std::move(state); }
  const TraceState* state() const { return state_.get(); }  // null where it has none
  /// Runs it for the first time, and gives symbols that left the trace the values they have in this
  /// call.
  Tensors first_call(std::span<const Tensor> inputs, const std::vector<Tensor>& leaked);

 private:
  struct Gradient;
  Tensors call_recorded(std::span<const Tensor> inputs);
  Tensors written(std::span<const Tensor> inputs) const;
  std::shared_ptr<Gradient> gradient();
  std::shared_ptr<Gradient> written_gradient();
  Ref<ConcreteFunction> alike(Ref<Graph> graph) const;

  Ref<Graph> graph_;
  mutable std::once_flag listed_;
  mutable std::vector<Tensor> variables_;
  std::mutex mutex_;
  std::shared_ptr<std::recursive_mutex> alone_;  // shared with what stands for it in gradients
  std::atomic<bool> small_{false};               // it is planned, and takes no time
  Lease lease_;
  Ref<TraceState> state_;
  Ref<Plan> plan_;
  std::shared_ptr<Gradient> gradient_;
};

}  // namespace holdfast
