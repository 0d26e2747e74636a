// A function that has been traced: its graph, its plan, its gradient.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "holdfast/base/owned.h"
#include "holdfast/exec/trace_state.h"
#include "holdfast/graph/graph.h"

namespace holdfast {

class Plan;

/// One trace of a function, ready to be called from any thread.
class HOLDFAST_API ConcreteFunction final : public RefCounted {
 public:
  explicit ConcreteFunction(Ref<Graph> graph);
  ~ConcreteFunction() override;

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
  void run_alone();

  /// What its graph calls and does not keep alive, since that may hold the function again: Python
  /// code. A lease keeps it alive; a tape that outlives the function holds one.
  using Lease = Callback<Ref<RefCounted>()>;
  void set_lease(Lease lease);

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
  struct Made;
  Tensors call_recorded(std::span<const Tensor> inputs);
  Tensors written(std::span<const Tensor> inputs) const;
  Ref<Gradient> gradient();
  Ref<Gradient> written_gradient();
  Ref<ConcreteFunction> alike(Ref<Graph> graph) const;

  Ref<Graph> graph_;
  Ref<TraceState> state_;
  const Owned<Made> made_;  // what is made of the graph when it is first needed
};

}  // namespace holdfast
