// Whoever wants to know what runs, and from when to when: profilers, debuggers, progress.
#pragma once

#include <exception>
#include <span>

#include "holdfast/op/context.h"

namespace holdfast {

struct Step;

/// One run of an op on values: a call of the program, or a step of a plan.
struct OpRun {
  const OpDef& op;
  std::span<const Tensor> inputs;  // as they came; they may lie on other devices than it runs on
  const Attrs& attrs;
  Where where = nullptr;       // the line that it stands on
  Device* device = nullptr;    // where it runs; at its end, where it ran
  const char* kernel = "";     // what computed it, which is known at its end
  const Step* step = nullptr;  // of the plan that runs it (exec/plan.h); null: a call
};

/// Is told when an op begins and when it ends, on the thread that runs it. Runs nest: what a
/// branch, a loop or a function does happens between the beginning and the end of their op, and of
/// one thread whatever began last ends first. Ops that an observer calls itself are not told,
/// neither to observers nor to tapes.
///
/// Either function may throw. What `begin` throws comes instead of the op, what `end` throws
/// instead of its result; where the op failed already, its own failure stays. Whatever happens,
/// each `begin` that returned has its `end`.
class HOLDFAST_API Observer : public RefCounted {
 public:
  virtual void begin(const OpRun&) = 0;
  /// `outputs` is what it gave; where it failed, none of it counts and `failure` is what was
  /// thrown. Null: it did not.
  virtual void end(const OpRun&, std::span<const Tensor> outputs,
                   const std::exception_ptr& failure) = 0;
};

/// Tells `observer` of every op that begins in this process while it lives, on any thread. What
/// began before it is gone still ends for the observer, which lives for as long as that takes.
class HOLDFAST_API Observing {
 public:
  explicit Observing(Ref<Observer> observer);
  ~Observing();
  Observing(const Observing&) = delete;

 private:
  Ref<Observer> observer_;
};

namespace detail {

HOLDFAST_API extern constinit std::atomic<bool> g_observed;
/// Whether anybody is told of ops: all that is asked where nobody is.
inline bool observed() { return g_observed.load(std::memory_order_relaxed); }

class Observers;

/// The beginning and the end of `run`, for everybody who observes when it begins.
class HOLDFAST_API ToldRun {
 public:
  explicit ToldRun(const OpRun& run);
  ~ToldRun();
  ToldRun(const ToldRun&) = delete;
  void ended(std::span<const Tensor> outputs);
  /// To be called while what was thrown is caught.
  void failed() noexcept;

 private:
  void end(std::span<const Tensor> outputs, const std::exception_ptr& failure);
  const OpRun& run_;
  Ref<const Observers> who_;
  size_t begun_ = 0;
};

/// Calls `f`, which is `run` and leaves its results in `out`.
template <class F>
void tell(const OpRun& run, const Tensors& out, F&& f) {
  ToldRun told(run);
  try {
    f();
  } catch (...) {
    told.failed();
    throw;
  }
  told.ended(out);
}

}  // namespace detail
}  // namespace holdfast
