// Derivatives along a direction: Jacobian-vector products.
#pragma once

#include "holdfast/autodiff/tape.h"

namespace holdfast {

/// How `target` changes when `primals`, which the tape watches, move along `tangents`. Empty where
/// it does not depend on them. The tape must be persistent.
HOLDFAST_API Tensor jvp(GradientTape& tape, const Tensor& target,
                        const std::vector<Source>& primals, const std::vector<Tensor>& tangents,
                        Unconnected = Unconnected::kNone);

/// Watches `primals` from its construction on; `jvp` tells how results change when they move along
/// `tangents`.
class HOLDFAST_API ForwardAccumulator {
 public:
  [[gnu::always_inline]] ForwardAccumulator(
      std::vector<Source> primals, std::vector<Tensor> tangents,
      const std::source_location& at = std::source_location::current())
      : primals_(std::move(primals)),
        tangents_(std::move(tangents)),
        tape_({.persistent = true, .watch_accessed_variables = false, .paused = true}, at) {
    begin();
  }

  /// The tangent of `target`; empty where it does not depend on the primals.
  [[gnu::always_inline]] Tensor jvp(
      const Tensor& target, Unconnected unconnected = Unconnected::kNone,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return push(target, unconnected);
  }
  /// Those of several.
  [[gnu::always_inline]] std::vector<Tensor> jvp(
      const std::vector<Tensor>& targets, Unconnected unconnected = Unconnected::kNone,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return push(targets, unconnected);
  }
  /// Ends the recording; what was recorded can still be asked for.
  void stop() { tape_.stop(); }

 private:
  void begin();
  Tensor push(const Tensor& target, Unconnected);
  std::vector<Tensor> push(const std::vector<Tensor>& targets, Unconnected);
  std::vector<Source> primals_;
  std::vector<Tensor> tangents_;
  GradientTape tape_;
};

}  // namespace holdfast
