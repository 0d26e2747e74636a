// The steps of training, and what a model keeps for them.
#include "holdfast/keras/training.h"

#include <algorithm>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/function.h"
#include "holdfast/keras/loss_watch.h"
#include "holdfast/keras/no_gradients.h"
#include "holdfast/keras/optimizer_of.h"
#include "holdfast/keras/optimizers/loss_scale.h"
#include "holdfast/keras/outputs.h"
#include "holdfast/keras/step_scope.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras {
namespace {

// x, y and weights of a batch.
struct Parts {
  Nested x, y, weight;
};
Parts parts_of(const Nested& data) {
  if (!data.is_sequence()) return {data, {}, {}};
  if (data.size() == 0 || data.size() > 3 || data.kind() == Nested::Kind::kList)
    return {data, {}, {}};
  return {data[0], data.size() > 1 ? data[1] : Nested(), data.size() > 2 ? data[2] : Nested()};
}

}  // namespace

ModelLayer::ModelLayer() = default;
ModelLayer::~ModelLayer() = default;

void ModelLayer::visit(Visitor& see) const {
  Layer::visit(see);
  see.child(compiled_);
}

void ModelLayer::clear() {
  Layer::clear();
  compiled_ = nullptr;
}

void ModelLayer::compile(const CompileOptions& o) {
  if (o.steps_per_execution < 1)
    fail(Code::E1103, cat(described(), ": `steps_per_execution` is ", o.steps_per_execution,
                          ", expected at least 1"));
  // Small gradients vanish in float16: there the loss is scaled, as in Keras.
  CompileOptions with = o;
  const Ref<Optimizer>& given = o.optimizer.function;
  if (o.auto_scale_loss && policy().name == "mixed_float16" && given &&
      !dynamic_cast<const optimizers::LossScaleOptimizerObject*>(given.get()))
    with.optimizer =
        optimizers::LossScaleOptimizer({.inner_optimizer = given, .name = "loss_scale_optimizer"})
            .ref();
  compiled_ = make_ref<Compiled>(with);
}

Compiled& ModelLayer::compiled(const char* asked_by) const {
  if (!compiled_)
    fail(Code::E1104, cat(described(), " is not compiled, and ", asked_by, " needs that"),
         "`compile` says with which loss and optimizer a model is trained",
         {manual_fix("call `compile` with a loss and an optimizer first")});
  return *compiled_;
}

Optimizer& optimizer_of(const ModelLayer& model, const char* asked_by) {
  const Ref<Optimizer>& found = model.compiled(asked_by).optimizer();
  if (!found)
    fail(Code::E1104, cat(model.described(), " has no optimizer, and ", asked_by, " needs one"),
         "`compile` was given none, or it was taken away since",
         {manual_fix("call `compile` with an optimizer, or set `model.optimizer`")});
  return *found;
}

namespace {

// A step that nobody around it has begun.
class OwnStep {
 public:
  explicit OwnStep(bool trains) {
    if (!StepScope::current()) own_.emplace(trains);
  }

 private:
  std::optional<StepScope> own_;
};

// A step looks at its loss once, whoever has computed it.
void watch(const ModelLayer& model, Compiled& c, const Tensor& loss) {
  StepScope* step = StepScope::current();
  if (step && step->take_watch()) c.watch().look(loss, model.trainable_variables());
}

}  // namespace

Tensor ModelLayer::compute_loss(const Nested&, const Nested& y, const Nested& y_pred,
                                const Nested& sample_weight) {
  Compiled& c = compiled("the loss");
  Tensor total;
  if (!c.options().loss.empty())
    total = c.loss(y, y_pred, sample_weight, ModelOutputs(*this, y_pred));
  for (const Tensor& t : losses()) {
    Tensor one = total.defined() && t.dtype() != total.dtype() ? cast(t, total.dtype()) : t;
    if (one.rank() > 0) one = reduce_sum(one);
    total = total.defined() ? total + one : one;
  }
  if (!total.defined())
    fail(Code::E1104, cat(described(), " has no loss that training could make small"),
         "`compile` was given none, and no layer added one",
         {manual_fix("give `compile` a loss, or call `add_loss` in a layer")});
  watch(*this, c, total);
  return total;
}

Tensor training_loss(ModelLayer& model, const Nested& data) {
  Parts p = parts_of(data);
  CallOptions training;
  training.training = true;
  Nested y_pred = model.run(p.x, training);
  return model.compute_loss(p.x, p.y, y_pred, p.weight);
}

Nested ModelLayer::compute_metrics(const Nested&, const Nested& y, const Nested& y_pred,
                                   const Nested& sample_weight) {
  Compiled& c = compiled("its metrics");
  c.update_metrics(y, y_pred, sample_weight, ModelOutputs(*this, y_pred));
  return get_metrics_result();
}

Nested ModelLayer::train_step(const Nested& data) {
  Parts p = parts_of(data);
  Compiled& c = compiled("training");
  Optimizer& by = optimizer_of(*this, "training");
  OwnStep step(true);
  GradientTape tape;
  CallOptions training;
  training.training = true;
  Nested y_pred = run(p.x, training);
  Tensor loss = compute_loss(p.x, p.y, y_pred, p.weight);
  watch(*this, c, loss);
  c.track(loss, examples_in(p.x));
  Tensor scaled = by.scale_loss(loss);
  std::vector<Variable> weights = trainable_variables();
  if (!weights.empty()) {  // all may be frozen: the loss and the metrics are wanted all the same
    auto slopes = tape.gradients({scaled}, {weights.begin(), weights.end()});
    if (std::all_of(slopes.begin(), slopes.end(), [](const Gradient& g) { return g.none(); }))
      refuse_no_gradients(*this, tape, scaled, weights);
    by.apply({slopes.begin(), slopes.end()}, weights);
  }
  return compute_metrics(p.x, p.y, y_pred, p.weight);
}

Nested ModelLayer::test_step(const Nested& data) {
  Parts p = parts_of(data);
  OwnStep step(false);
  CallOptions testing;
  testing.training = false;
  Nested y_pred = run(p.x, testing);
  Tensor loss = compute_loss(p.x, p.y, y_pred, p.weight);
  compiled("evaluation").track(loss, examples_in(p.x));
  return compute_metrics(p.x, p.y, y_pred, p.weight);
}

Nested ModelLayer::predict_step(const Nested& data) {
  CallOptions testing;
  testing.training = false;
  return run(parts_of(data).x, testing);
}

namespace {

template <class F>
class TracedStep final : public StepFunction {
 public:
  explicit TracedStep(F f) : step_(std::move(f)) {}
  Nested operator()(const Nested& batch) override { return step_(batch); }

 private:
  F step_;
};
template <class F>
Ref<StepFunction> as_step(F f) {
  return make_ref<TracedStep<F>>(std::move(f));
}

}  // namespace

Ref<StepFunction> ModelLayer::make_step(StepKind kind) {
  auto step = [this, kind](Nested batch) -> Nested {
    if (kind == StepKind::kPredict) return predict_step(batch);
    StepScope scope(kind == StepKind::kTrain);
    return kind == StepKind::kTrain ? train_step(batch) : test_step(batch);
  };
  if (compiled_ && compiled_->options().run_eagerly) return as_step(step);
  const char* names[] = {"train_step", "test_step", "predict_step"};
  return as_step(
      function(step, {.name = names[static_cast<size_t>(kind)], .reduce_retracing = true}));
}

namespace {

// The metrics that a module holds itself.
std::vector<Ref<Metric>> held_by(const ModuleObject& module) {
  struct Held final : Visitor {
    void object(const Object& child) override {
      if (auto* metric = dynamic_cast<Metric*>(const_cast<Object*>(&child)))
        metrics.emplace_back(metric);
    }
    std::vector<Ref<Metric>> metrics;
  } held;
  module.visit_all(held);
  return held.metrics;
}

bool has(const std::vector<Ref<Metric>>& list, const Ref<Metric>& metric) {
  return std::find(list.begin(), list.end(), metric) != list.end();
}

}  // namespace

std::vector<Ref<Metric>> ModelLayer::metrics() const {
  std::vector<Ref<Metric>> out, others;
  if (compiled_) {
    compiled_->loss_tracker();  // there from the start; others come with the first batch
    out = compiled_->metrics();
  }
  const std::vector<Ref<ModuleObject>> parts = submodules();
  // What an inner model keeps is for its own training, and what a metric keeps for what that says.
  for (const Ref<ModuleObject>& m : parts)
    if (dynamic_cast<ModelLayer*>(m.get()) || dynamic_cast<Metric*>(m.get()))
      for (const Ref<Metric>& inside : held_by(*m)) others.push_back(inside);
  for (const Ref<ModuleObject>& m : parts) {
    Ref<Metric> metric(dynamic_cast<Metric*>(m.get()));
    if (metric && !has(others, metric) && !has(out, metric)) out.push_back(metric);
  }
  return out;
}

Nested ModelLayer::get_metrics_result() {
  std::vector<Nested::Entry> out;
  auto add = [&](const std::string& name, const Nested& value) {
    auto it = std::find_if(out.begin(), out.end(),
                           [&](const Nested::Entry& e) { return e.first == name; });
    if (it != out.end())
      it->second = value;  // the model's own has the last word
    else
      out.emplace_back(name, value);
  };
  const std::vector<Ref<Metric>> all = metrics();
  const std::vector<Compiled::Told> told =
      compiled_ ? compiled_->told() : std::vector<Compiled::Told>();
  bool listed = false;  // those of `compile`, which stand together
  for (const Ref<Metric>& m : all) {
    auto mine = std::find_if(told.begin(), told.end(),
                             [&](const Compiled::Told& t) { return t.metric == m; });
    if (mine == told.end()) {
      Nested value = m->result();
      if (value.is_dict())
        for (const Nested::Entry& e : value.entries()) add(e.first, e.second);
      else
        add(m->name(), value);
    } else if (mine->loss) {
      add(mine->name, mine->value);
    } else if (!listed) {
      listed = true;
      for (const Compiled::Told& t : told)
        if (!t.loss && has(all, t.metric)) add(t.name, t.value);
    }
  }
  return Nested::dict(std::move(out));
}

void ModelLayer::reset_metrics() {
  for (const Ref<Metric>& m : metrics()) m->reset_state();
}

ModelHooks& model_hooks() {
  static auto* hooks = new ModelHooks{};
  return *hooks;
}

}  // namespace holdfast::keras
