// What actually runs: the steps of a graph with their kernels, over slots that hold tensors.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "holdfast/exec/kernel.h"
#include "holdfast/graph/graph.h"

namespace holdfast {

class FastPlan;
class SizePlans;
class VariableState;

/// One node, ready to run.
struct Step {
  Ref<Node> node;
  InlineVector<int, 4> in;    // slots; -1: an optional input that is not there
  int out = 0;                // the first of its outputs' slots
  InlineVector<int, 4> done;  // slots that nobody reads after this step
  bool owns =
      false;  // its inputs are handed over with their count, so that a list can change in place
  bool fixed = false;            // the numbers that its shape rule reads are part of the graph
  bool binds = false;            // so are those by which its kernel is chosen, if any
  std::unique_ptr<Infer> types;  // what it gives, where every size is known beforehand
  Device* device = nullptr;      // where it runs; null: found out at each run
};

/// What one run saw of a step.
struct StepSeen {
  Chosen chosen;
  std::string refusals;        // of kernels before it
  InlineVector<int, 2> alias;  // of each output, as of AliasFn
};

/// Fixed steps and order. Any number of threads may run it at once. Values between steps have their
/// places in one block of memory; the first run looks at what the kernels do with it, and binds
/// them.
class HOLDFAST_API Plan final : public RefCounted {
 public:
  Plan();
  ~Plan() override;
  /// All nodes of `graph`, in its order.
  static Ref<Plan> build(Ref<Graph> graph);
  /// The plan of `g` after all passes.
  static Ref<Plan> compile(const Graph& g);

  /// Inputs are the graph's arguments and then its captures.
  void run(std::span<const Tensor> inputs, Tensors& outputs) const;
  /// The same; the plan may let go of an input, or change it in place, once nobody needs it.
  void run(Tensors&& inputs, Tensors& outputs) const;

  const Graph& graph() const { return *graph_; }
  const std::vector<Step>& steps() const { return steps_; }
  int slots() const { return static_cast<int>(initial_.size()); }
  /// Bytes that outputs of this plan's steps take, as far as they are known: what tells small plans
  /// from large.
  int64_t bytes() const { return bytes_; }
  /// After how many steps a run looks whether somebody wants it stopped: a look costs what a tiny
  /// step costs.
  size_t steps_at_a_time() const { return open_ || bytes_ > (1 << 20) ? 1 : 16; }
  /// How it runs where all of it stays on the CPU, made when first asked for; null where some of it
  /// never does.
  const FastPlan* fast() const;

 private:
  friend class FastPlan;
  /// Runs one step on `slots`; `out` may hold tensors to write into. Where no kernel is bound, one
  /// is chosen and left in `fresh`.
  static void run_step(const Step&, std::span<Tensor> slots, Tensors& out, const Chosen* bound,
                       Chosen& fresh, std::string* refusals);
  void run_in_slots(std::span<const Tensor> inputs, Tensors* given, Tensors& outputs) const;
  std::vector<StepSeen> expected() const;
  Ref<Plan> for_sizes_of(std::span<const Tensor> inputs) const;
  static Ref<Plan> build(Ref<Graph> graph, bool local);
  /// Whether a call with these inputs has nothing to do with other devices.
  bool stays(std::span<const Tensor> inputs) const;
  /// The plan for calls that have: each op finds its device when it runs.
  const Plan& anywhere() const;
  /// A run saw what was not expected: runs that begin from now on know.
  void learn(std::vector<StepSeen> seen) const;

  Ref<Graph> graph_;
  std::vector<Step> steps_;
  std::vector<Tensor> initial_;  // constants in their slots
  std::vector<int> inputs_, outputs_;
  int64_t bytes_ = 0;
  bool open_ = false;                      // sizes of some inputs are not known
  bool local_ = true;                      // on the CPU, where inputs and variables are
  std::vector<VariableState*> variables_;  // that the graph holds
  Ref<Graph> source_;                      // what other plans are made of; null: its own graph
  mutable std::mutex anywhere_mutex_;
  mutable Ref<Plan> anywhere_;
  mutable std::unique_ptr<SizePlans> sized_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<FastPlan>>
      fast_;  // as first expected, and as it was seen; the last is in force
  mutable std::atomic<const FastPlan*> ready_{nullptr};
};

/// The plan of a branch or a body, made when it is first needed.
const Plan& plan_of(const Graph& body);

}  // namespace holdfast
