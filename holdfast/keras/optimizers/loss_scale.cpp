#include "holdfast/keras/optimizers/loss_scale.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/flow.h"
#include "holdfast/keras/foreign_optimizer.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::optimizers {
namespace {

using O = LossScaleOptions;
const ClassDef& declared =
    Declare<LossScaleOptimizerObject>("optimizers.LossScaleOptimizer",
                                      "Scales the loss so that small gradients do not vanish.",
                                      &Optimizer::def())
        .required<&O::inner_optimizer>("inner_optimizer")
        .option<&O::initial_scale>("initial_scale")
        .option<&O::dynamic_growth_steps>("dynamic_growth_steps")
        .option<&O::name>("name")
        .known_as({"lossscaleoptimizer"});

const Tensor& values(const Gradient& g) { return g.slices ? g.slices->values : g.dense; }

}  // namespace

const ClassDef& LossScaleOptimizerObject::definition() const { return declared; }

void LossScaleOptimizerObject::configured() {
  if (!options_.inner_optimizer)
    fail(Code::E1104, "LossScaleOptimizer has no `inner_optimizer`, expected an optimizer");
  if (options_.dynamic_growth_steps < 1)
    fail(Code::E1103, cat("LossScaleOptimizer: `dynamic_growth_steps` is ",
                          options_.dynamic_growth_steps, ", expected at least 1"));
  set_options({.learning_rate = 0.0, .name = options_.name});
}

const Ref<Optimizer>& LossScaleOptimizerObject::inner() const {
  if (!options_.inner_optimizer)
    fail(Code::E1104, cat(described(), " has no `inner_optimizer`"), "its constructor did not run");
  return options_.inner_optimizer.function;
}

void LossScaleOptimizerObject::visit(Visitor& see) const {
  Optimizer::visit(see);
  see.child(options_.inner_optimizer.function);
}

ConfigDict LossScaleOptimizerObject::get_config() const {
  ConfigDict out{{"name", name()}};
  for (const auto& [key, value] : declared_config(*this))
    if (key != "name") out.set(key, value);
  return out;
}

void LossScaleOptimizerObject::make_scale() {
  if (scale_.defined()) return;
  begin();
  InterpreterScope eagerly(nullptr);
  steps_ = add_kept("step_counter", Tensor::scalar(int64_t{0}));
  scale_ = add_kept("dynamic_scale", Tensor::scalar(options_.initial_scale, float32));
}

void LossScaleOptimizerObject::make_slots(const std::vector<Variable>& variables) {
  make_scale();
  inner()->build(variables);
}

std::vector<Variable> LossScaleOptimizerObject::variables() const {
  std::vector<Variable> out = Optimizer::variables();
  if (options_.inner_optimizer)
    for (const Variable& v : inner()->variables()) out.push_back(v);
  return out;
}

void LossScaleOptimizerObject::apply(const std::vector<Gradient>& gradients,
                                     const std::vector<Variable>& variables) {
  build(variables);
  NoTapes unseen;
  std::vector<Tensor> finite;
  for (const Gradient& g : gradients)
    if (!g.none()) finite.push_back(reduce_all(is_finite(values(g))));
  if (finite.empty()) return inner()->apply(gradients, variables);  // which says what is wrong
  cond(
      reduce_all(stack(finite)),
      [&] {
        std::vector<Gradient> unscaled = gradients;
        for (Gradient& g : unscaled) {
          if (g.none()) continue;
          Tensor by = cast(scale_, values(g).dtype());
          // The inner one divides by a factor of its own, which did not scale the loss.
          if (const auto& own = inner()->common().loss_scale_factor) by = by / *own;
          if (g.slices)
            g.slices->values = g.slices->values / by;
          else
            g.dense = g.dense / by;
        }
        inner()->apply(unscaled, variables);
        Tensor full = steps_ == options_.dynamic_growth_steps - 1;
        scale_.assign(select(full, scale_ * 2.f, scale_.read()));
        steps_.assign(select(full, Tensor::scalar(int64_t{0}), steps_ + 1));
      },
      [&] {
        steps_.assign(Tensor::scalar(int64_t{0}));
        scale_.assign(scale_ * 0.5f);
      });
}

Variable LossScaleOptimizerObject::iterations() const { return inner()->iterations(); }
bool LossScaleOptimizerObject::has_rate() const { return inner()->has_rate(); }
Tensor LossScaleOptimizerObject::learning_rate() { return inner()->learning_rate(); }
Variable LossScaleOptimizerObject::rate_variable() { return inner()->rate_variable(); }
void LossScaleOptimizerObject::set_learning_rate(const LearningRate& to) {
  inner()->set_learning_rate(to);
}
Tensor LossScaleOptimizerObject::scale_loss(const Tensor& loss) {
  make_scale();  // a step is traced once, and the loss of each run has the scale of then
  return loss * cast(scale_, loss.dtype());
}
void LossScaleOptimizerObject::finalize_variable_values(const std::vector<Variable>& variables) {
  inner()->finalize_variable_values(variables);
}

}  // namespace holdfast::keras::optimizers
