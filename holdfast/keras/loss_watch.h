// The first loss of a training that is not finite: seen before the step changes anything, and
// explained by one more run of the step.
#pragma once

#include <atomic>
#include <utility>

#include "holdfast/keras/model.h"

namespace holdfast::keras {

/// Sees whether a loss is finite, in each step, before the weights change; keeps the weights'
/// values from before only where it is not.
class HOLDFAST_API LossWatch final : public RefCounted {
 public:
  /// Has the step that is run, or traced, look at its loss. On a device other than the CPU it would
  /// wait for each step, so there nobody looks.
  void look(const Tensor& loss, const std::vector<Variable>& weights);
  /// Begins to watch anew.
  void reset();
  bool fired() const { return fired_; }
  /// What the weights were before the step.
  const std::vector<std::pair<Variable, Tensor>>& before() const { return before_; }
  std::string text() const override { return "the watch over a loss"; }

  /// Called by the op.
  void see(double loss);

 private:
  std::atomic<bool> fired_ = false;
  std::vector<Variable> weights_;
  std::vector<std::pair<Variable, Tensor>> before_;
};

/// What a step of training over a batch makes small, without the step.
Tensor training_loss(ModelLayer& model, const Nested& data);

/// Where training stands.
struct StepPlace {
  int64_t epoch = 0, step = 0;  // from 0
  Where asked = nullptr;        // the line of `fit`
};

/// Variables that a step reads and changes at once, such as states of random numbers: a few bytes,
/// whose values from before a step are cheap to have.
class HOLDFAST_API SmallStates {
 public:
  explicit SmallStates(const ModelLayer& model);
  void note();
  const std::vector<std::pair<Variable, Tensor>>& before() const { return before_; }

 private:
  std::vector<std::pair<Variable, Tensor>> before_;
};

/// Runs the forward pass of a step once more, op by op, over the same batch and the values from
/// before it, and warns (W1204) of the op that gave the first NaN or Inf. All variables are as they
/// were afterwards.
void report_not_finite(ModelLayer& model, const Nested& batch, const LossWatch& watch,
                       const SmallStates& states, const StepPlace& place);

}  // namespace holdfast::keras
