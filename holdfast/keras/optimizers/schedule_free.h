// AdamW without a schedule: weights stand between where gradients lead and the mean of all steps.
#pragma once

#include "holdfast/keras/optimizer.h"

namespace holdfast::keras::optimizers {

struct ScheduleFreeAdamWOptions {
  LearningRate learning_rate = 0.0025;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-8;
  int64_t warmup_steps = 0;  // over which the rate rises to its whole
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::optional<double> loss_scale_factor = {};
  std::optional<int64_t> gradient_accumulation_steps = {};
  std::string name = {};
};

class HOLDFAST_API ScheduleFreeAdamWOptimizer
    : public Declares<ScheduleFreeAdamWOptions, Optimizer> {
 public:
  const ClassDef& definition() const override;
  void make_slots(const std::vector<Variable>& variables) override;
  void update_step(const Gradient& gradient, const Variable& variable, Step& step) override;

 private:
  void check() override;
};
using ScheduleFreeAdamW = Held<ScheduleFreeAdamWOptimizer>;

}  // namespace holdfast::keras::optimizers
