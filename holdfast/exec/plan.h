// What actually runs: the steps of a graph with their kernels, over slots that hold tensors.
#pragma once

#include <memory>

#include "holdfast/graph/graph.h"

namespace holdfast {

/// One node, ready to run.
struct Step {
  Ref<Node> node;
  InlineVector<int, 4> in;       // slots; -1: an optional input that is not there
  int out = 0;                   // the first of its outputs' slots
  InlineVector<int, 4> done;     // slots that nobody reads after this step
  const Kernel* kernel = nullptr;  // chosen when the plan was made; null: chosen at each run
  bool owns = false;             // its inputs are handed over with their count, so that a list can change in place
  std::unique_ptr<Infer> types;  // what it gives, where every size is known beforehand
};

/// Fixed steps and order. Immutable, so that any number of threads may run it at once.
class HOLDFAST_API Plan final : public RefCounted {
 public:
  /// All nodes of `graph`, in its order.
  static Ref<Plan> build(Ref<Graph> graph);

  /// Inputs are the graph's arguments and then its captures.
  void run(std::span<const Tensor> inputs, Tensors& outputs) const;
  /// The same; the plan may let go of an input, or change it in place, once nobody needs it.
  void run(Tensors&& inputs, Tensors& outputs) const;

  const Graph& graph() const { return *graph_; }
  const std::vector<Step>& steps() const { return steps_; }
  int slots() const { return static_cast<int>(initial_.size()); }
  /// Bytes that outputs of this plan's steps take, as far as they are known: what tells small plans from large.
  int64_t bytes() const { return bytes_; }

 private:
  void run_step(const Step&, std::span<Tensor> slots) const;
  void run_slots(std::span<Tensor> slots, Tensors& outputs) const;

  Ref<Graph> graph_;
  std::vector<Step> steps_;
  std::vector<Tensor> initial_;     // constants in their slots
  std::vector<int> inputs_, outputs_;
  std::vector<bool> input_used_;
  int64_t bytes_ = 0;
};

/// Called now and then while a plan runs; throws to stop it. Set by the language that owns the main thread.
HOLDFAST_API void set_interrupt(void (*check)());
HOLDFAST_API void check_interrupt();

}  // namespace holdfast
