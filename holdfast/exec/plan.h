// What actually runs: the steps of a graph with their kernels, over slots that hold tensors.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "holdfast/exec/kernel.h"
#include "holdfast/graph/graph.h"
#include "holdfast/passes/place.h"

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
  Device* device = nullptr;      // where it runs
  std::unique_ptr<Place> place;  // null where all of the plan is on the first CPU
  /// Where output `i` lies; null for a handle or a list.
  Device* lies(size_t i) const { return place ? place->lies[i] : device; }
};

/// Fixed steps and order, for inputs and variables that lie on certain devices; a call with others
/// finds, or makes, another plan of the same graph. Any number of threads may run it at once.
/// Values between steps have their places in one block of memory for each device. Kernels are bound
/// when they are first chosen.
class HOLDFAST_API Plan final : public RefCounted {
 public:
  Plan();
  ~Plan() override;
  /// All nodes of `graph`, in its order.
  static Ref<Plan> build(Ref<Graph> graph);
  /// The plan of `g` after all passes. `g` is kept, and stays as it is: plans for other places are
  /// made of it.
  static Ref<Plan> compile(Ref<Graph> g);

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
  /// How it runs, made when first asked for.
  const FastPlan* fast() const;
  /// Calls `each` for the plan and for those made of its graph for other places and for certain
  /// sizes; the plan itself is left out where only others ran.
  void for_each(const std::function<void(const FastPlan&)>& each) const;
  /// Whether its runs from now on note the time of each step, and those of plans made of its graph.
  void set_timed(bool on) const;

 private:
  friend class FastPlan;
  /// What a step chose that no kernel is bound to yet, and what other kernels said.
  struct Fresh {
    Chosen chosen;
    std::string refusals;
  };
  /// Runs one step on `slots`; `out` may hold tensors to write into. Either a kernel is bound, or
  /// one is chosen and left in `fresh`.
  static void run_step(const Step&, std::span<Tensor> slots, Tensors& out, const Chosen* bound,
                       Fresh* fresh);
  struct Runs;  // the ways of a step, in plan.cpp
  static Ref<Plan> build(Ref<Graph> graph, bool local, Places places);
  static Ref<Plan> build_for(Ref<Graph> source, std::span<Device* const> inputs, bool with_passes);
  /// The run of a call that it fits; `given` as of FastPlan::run.
  void run_here(std::span<const Tensor> inputs, Tensors* given, Tensors& outputs) const;
  Ref<Plan> for_sizes_of(std::span<const Tensor> inputs) const;
  /// Whether a call with these inputs finds everything where this plan was made for.
  bool fits(std::span<const Tensor> inputs) const;
  /// The plan for where these inputs, and the variables, lie now.
  Ref<Plan> for_places_of(std::span<const Tensor> inputs) const;
  /// Those made of its graph so far.
  std::vector<Ref<Plan>> others() const;

  Ref<Graph> graph_;
  std::vector<Step> steps_;
  std::vector<Tensor> initial_;  // constants in their slots
  std::vector<int> inputs_, outputs_;
  int64_t bytes_ = 0;
  bool open_ = false;                      // sizes of some inputs are not known
  std::vector<VariableState*> variables_;  // that the graph holds
  std::vector<Device*>
      places_;               // of inputs, then of variables; empty where all is on the first CPU
  bool placed_ = false;      // made for certain places, if only those of its own nodes
  bool explicit_ = false;    // made while no copy was allowed
  bool with_passes_ = true;  // that others of its graph are made with
  Ref<Graph> source_;        // what other plans are made of; null: its own graph
  mutable std::recursive_mutex others_mutex_;  // making one warns, which runs a program's code
  mutable std::vector<Ref<Plan>> others_;      // for other places; the one used last comes first
  mutable std::unique_ptr<SizePlans> sized_;
  mutable std::atomic<bool> timed_{false};
  mutable std::mutex mutex_;
  mutable std::unique_ptr<FastPlan> fast_;
  mutable std::atomic<const FastPlan*> ready_{nullptr};
};

/// The plan of a branch or a body, made when it is first needed.
const Plan& plan_of(const Graph& body);

}  // namespace holdfast
