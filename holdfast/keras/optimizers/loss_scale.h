// An optimizer around another one, for losses that are computed in float16.
#pragma once

#include "holdfast/keras/optimizer.h"

namespace holdfast::keras::optimizers {

struct LossScaleOptions {
  OptimizerOption inner_optimizer = {};
  double initial_scale = 32768;
  int64_t dynamic_growth_steps = 2000;
  std::string name = {};
};

/// Scales the loss up so that small gradients do not vanish, and gradients down again; the scale
/// grows while they are finite. A step whose gradients are not moves nothing, and halves the scale.
class HOLDFAST_API LossScaleOptimizerObject : public Declares<LossScaleOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void configured() override;
  void visit(Visitor&) const override;
  void apply(const std::vector<Gradient>& gradients,
             const std::vector<Variable>& variables) override;
  void make_slots(const std::vector<Variable>& variables) override;
  std::vector<Variable> variables() const override;
  Variable iterations() const override;
  bool has_rate() const override;
  Tensor learning_rate() override;
  Variable rate_variable() override;
  void set_learning_rate(const LearningRate&) override;
  Tensor scale_loss(const Tensor& loss) override;
  void finalize_variable_values(const std::vector<Variable>& variables) override;
  ConfigDict get_config() const override;
  /// The one around which it is; none is refused.
  const Ref<Optimizer>& inner() const;
  /// The scale now; empty before the first loss and the first step.
  const Variable& scale() const { return scale_; }

 private:
  void make_scale();
  Variable steps_, scale_;
};

using LossScaleOptimizer = Held<LossScaleOptimizerObject>;

}  // namespace holdfast::keras::optimizers
