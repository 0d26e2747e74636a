#include "holdfast/keras/optimizers/schedule_free.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/optimizers/declare.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::optimizers {

void ScheduleFreeAdamWOptimizer::check() {
  if (options_.beta_1 == 0)
    fail(Code::E1103, "ScheduleFreeAdamW: `beta_1` is 0, expected a share above 0",
         "the mean of all steps is found again from the weights, of which it is that share");
  if (options_.warmup_steps < 0)
    fail(Code::E1103, cat("ScheduleFreeAdamW: `warmup_steps` is ", options_.warmup_steps,
                          ", expected 0 or more"));
}

void ScheduleFreeAdamWOptimizer::make_slots(const std::vector<Variable>& variables) {
  add_slots(variables, {"momentum", "velocity"});
  // What gradients move begins where the variables are.
  InterpreterScope eagerly(nullptr);
  for (const Variable& v : variables) slot(0, v).assign(v.read());
}

void ScheduleFreeAdamWOptimizer::update_step(const Gradient& gradient, const Variable& v,
                                             Step& step) {
  const auto& o = options_;
  DType d = v.dtype();
  Tensor g = dense(gradient, v), number = step.number(d), rate = step.rate(d);
  if (o.warmup_steps > 0) rate = rate * minimum(number / static_cast<double>(o.warmup_steps), 1.0);
  Tensor squares = slot(1, v).read();
  squares = squares + (square(g) - squares) * (1 - o.beta_2);
  slot(1, v).assign(squares);
  Tensor moved_before = slot(0, v).read();
  Tensor moved =
      moved_before - rate * g / (sqrt(squares / (1 - step.power(o.beta_2, d))) + o.epsilon);
  slot(0, v).assign(moved);
  // The variable is beta_1 of the mean and the rest of what gradients move.
  Tensor mean = (v.read() - (1 - o.beta_1) * moved_before) / o.beta_1;
  Tensor share = 1 / number;
  mean = (1 - share) * mean + share * moved;
  v.assign((1 - o.beta_1) * moved + o.beta_1 * mean);
}

namespace {

using O = ScheduleFreeAdamWOptions;
const ClassDef& schedule_free_def =
    with_common(Declare<ScheduleFreeAdamWOptimizer>(
                    "optimizers.ScheduleFreeAdamW",
                    "AdamW without a schedule: weights stand between where gradients lead and the "
                    "mean of all steps.",
                    &Optimizer::def())
                    .option<&O::learning_rate>("learning_rate")
                    .option<&O::beta_1>("beta_1")
                    .option<&O::beta_2>("beta_2")
                    .option<&O::epsilon>("epsilon")
                    .option<&O::warmup_steps>("warmup_steps"));

}  // namespace

const ClassDef& ScheduleFreeAdamWOptimizer::definition() const { return schedule_free_def; }

}  // namespace holdfast::keras::optimizers
