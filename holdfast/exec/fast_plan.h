// How a plan runs: kernels bound once, and a block of memory on each device for what does not leave
// it.
#pragma once

#include <chrono>
#include <mutex>

#include "holdfast/exec/memory_plan.h"
#include "holdfast/exec/plan.h"

namespace holdfast {

/// Built from what ops say of their outputs' memory. Where a kernel looks into other memory than
/// that, the value is copied: never wrong, at worst slower.
class HOLDFAST_API FastPlan {
 public:
  explicit FastPlan(const Plan& plan);
  ~FastPlan();

  /// `given` is emptied as soon as its tensors are in place; null keeps them.
  void run(std::span<const Tensor> inputs, Tensors* given, Tensors& outputs) const;

  MemoryReport memory() const;
  /// Each step: its kernel, why others refused, its bytes and its share of the time that timed runs
  /// took.
  std::string explain() const;
  /// Whether runs from now on note the time of each step.
  void set_timed(bool on) const { timed_ = on; }

 private:
  struct Frame;
  class Lease;
  struct Storage {
    Span span;
    int slot;            // of its first value
    int arena;           // where it lies
    int shared = 0;      // further values that took its place
    int64_t offset = 0;  // in its arena
  };
  struct Arena {
    Device* device;
    int64_t bytes = 0;
  };
  void find_storage();
  bool retained(int slot) const { return retained_[static_cast<size_t>(slot)]; }
  int overwritten(const Step&, size_t output) const;
  VariableState* read_by(const Step&) const;
  bool read(size_t step, std::span<Tensor> slots) const;
  std::unique_ptr<Frame> make_frame() const;
  void settle(const Step&, Tensors& out, Frame&) const;
  int arena_on(Device*);
  void place_storage();

  const Plan& plan_;
  /// Keeps what a step chose, for all runs to come; of two at a time the first stays.
  void bind(size_t step, Chosen fresh, std::string refusals) const;
  void run_unbound(size_t step, std::span<Tensor> slots, Tensors& out) const;

  mutable std::unique_ptr<std::atomic<const Chosen*>[]> bound_;  // by step, once one was chosen
  mutable std::vector<std::string> refusals_;  // by step, of kernels before the one that was chosen
  std::vector<VariableState*> reads_;  // by step: the variable that it reads, and does no more
  std::vector<int> storage_of_;        // by slot; -1: memory of its own
  std::vector<bool> placed_;           // by slot: its tensor is made beforehand
  std::vector<bool> retained_;         // by slot: somebody may keep it beyond the run
  std::vector<int> first_, last_;      // by slot: the steps that write it and read it last
  std::vector<Storage> storages_;
  std::vector<Arena> arenas_;
  int64_t arena_bytes_ = 0;  // of all together
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> idle_;
  mutable std::atomic<bool> timed_{false};
  mutable std::unique_ptr<std::atomic<int64_t>[]>
      nanoseconds_;  // of each step, all timed runs together
  mutable std::atomic<int64_t> timed_runs_{0};
};

}  // namespace holdfast
