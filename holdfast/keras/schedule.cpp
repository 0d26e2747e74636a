#include "holdfast/keras/schedule.h"

#include <cmath>
#include <numbers>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/foreign_schedule.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras {

ScheduleHooks& schedule_hooks() {
  static auto* hooks = new ScheduleHooks{};
  return *hooks;
}

ClassDef& Schedule::def() {
  static ClassDef& d = Declare<Schedule>("optimizers.schedules.LearningRateSchedule",
                                         "A learning rate that changes from step to step.");
  return d;
}

std::string Schedule::text() const { return cat("the schedule ", class_name()); }
std::string Schedule::class_name() const {
  return &definition() != &def() ? definition().name : plain_class_name(typeid(*this));
}
ConfigDict Schedule::get_config() const { return declared_config(*this); }
Config Schedule::config() const {
  return ConfigObject{class_name(), get_config(), registered_name()};
}

Tensor Schedule::rate(const Tensor&) {
  fail(Code::E1105, cat("schedule ", class_name(), " says no rate"),
       "a schedule gives the rate of a step, and this class has no rule for it",
       {manual_fix("override what gives the rate of a step")});
}

Ref<Schedule> Schedule::from(const Ref<Object>& object, const std::string& what) {
  if (!object) return {};
  if (auto* s = dynamic_cast<Schedule*>(object.get())) return Ref<Schedule>(s);
  fail(Code::E1104, cat(what, " is ", object->text(), ", expected a schedule of learning rates"));
}

namespace schedules {
namespace {

void need_steps(const ClassDef& def, const char* option, double steps) {
  if (!(steps > 0))
    fail(Code::E1103, cat(def.name, ": `", option, "` is ", steps, ", expected more than 0"));
}

Tensor as_float(const Tensor& step) { return cast(step, float32); }

// 1 at the start, 0 at the end.
Tensor half_cosine(const Tensor& done) { return 0.5 * (1 + cos(std::numbers::pi * done)); }

}  // namespace

void ExponentialDecaySchedule::check() {
  need_steps(definition(), "decay_steps", options_.decay_steps);
}
Tensor ExponentialDecaySchedule::rate(const Tensor& step) {
  Tensor p = as_float(step) / options_.decay_steps;
  if (options_.staircase) p = floor(p);
  return options_.initial_learning_rate * pow(options_.decay_rate, p);
}

void PiecewiseConstantDecaySchedule::check() {
  const auto& o = options_;
  if (o.boundaries.empty() || o.boundaries.size() + 1 != o.values.size())
    fail(Code::E1103, cat("PiecewiseConstantDecay: ", o.boundaries.size(), " `boundaries` and ",
                          o.values.size(), " `values`, expected one value more than boundaries"));
}
Tensor PiecewiseConstantDecaySchedule::rate(const Tensor& step) {
  const auto& o = options_;
  // Boundaries are compared in the dtype of the step, as whole numbers where it is one.
  Tensor out = Tensor::scalar(o.values.back(), float32);
  for (size_t i = o.boundaries.size(); i-- > 0;)
    out = select(step <= Tensor::scalar(o.boundaries[i], step.dtype()),
                 Tensor::scalar(o.values[i], float32), out);
  return out;
}

void PolynomialDecaySchedule::check() {
  need_steps(definition(), "decay_steps", options_.decay_steps);
}
Tensor PolynomialDecaySchedule::rate(const Tensor& step) {
  const auto& o = options_;
  Tensor now = as_float(step), over = Tensor::scalar(o.decay_steps, float32);
  if (o.cycle)
    over = over * select(now == 0, Tensor::scalar(1.f), ceil(now / o.decay_steps));
  else
    now = minimum(now, over);
  Tensor left = pow(1 - now / over, o.power);
  return (o.initial_learning_rate - o.end_learning_rate) * left + o.end_learning_rate;
}

void InverseTimeDecaySchedule::check() {
  need_steps(definition(), "decay_steps", options_.decay_steps);
}
Tensor InverseTimeDecaySchedule::rate(const Tensor& step) {
  Tensor p = as_float(step) / options_.decay_steps;
  if (options_.staircase) p = floor(p);
  return options_.initial_learning_rate / (1 + options_.decay_rate * p);
}

void CosineDecaySchedule::check() { need_steps(definition(), "decay_steps", options_.decay_steps); }
Tensor CosineDecaySchedule::rate(const Tensor& step) {
  const auto& o = options_;
  double from = o.warmup_target.value_or(o.initial_learning_rate);
  double before = o.warmup_target ? o.warmup_steps : 0;
  Tensor now = minimum(as_float(step), o.decay_steps + before);
  Tensor decayed = (1 - o.alpha) * half_cosine((now - before) / o.decay_steps) + o.alpha;
  Tensor after = from * decayed;
  if (!(before > 0)) return after;
  Tensor warming = (from - o.initial_learning_rate) * (now / before) + o.initial_learning_rate;
  return select(now < before, warming, after);
}

void CosineDecayRestartsSchedule::check() {
  need_steps(definition(), "first_decay_steps", options_.first_decay_steps);
}
Tensor CosineDecayRestartsSchedule::rate(const Tensor& step) {
  const auto& o = options_;
  Tensor done = as_float(step) / o.first_decay_steps, restarts;
  if (o.t_mul == 1) {
    restarts = floor(done);
    done = done - restarts;
  } else {
    restarts = floor(log(1 - done * (1 - o.t_mul)) / std::log(o.t_mul));
    Tensor length = pow(o.t_mul, restarts);
    done = (done - (1 - length) / (1 - o.t_mul)) / length;
  }
  Tensor height = pow(o.m_mul, restarts) * half_cosine(done);
  return o.initial_learning_rate * ((1 - o.alpha) * height + o.alpha);
}

namespace {

template <class S>
Declare<S> schedule(const char* path, const char* doc) {
  return Declare<S>(path, doc, &Schedule::def());
}

using Exponential = ExponentialDecayOptions;
const ClassDef& exponential_def =
    schedule<ExponentialDecaySchedule>("optimizers.schedules.ExponentialDecay",
                                       "A rate that falls by one factor every `decay_steps` steps.")
        .required<&Exponential::initial_learning_rate>("initial_learning_rate")
        .required<&Exponential::decay_steps>("decay_steps")
        .required<&Exponential::decay_rate>("decay_rate")
        .option<&Exponential::staircase>("staircase")
        .option<&Exponential::name>("name");

using Piecewise = PiecewiseConstantDecayOptions;
const ClassDef& piecewise_def =
    schedule<PiecewiseConstantDecaySchedule>("optimizers.schedules.PiecewiseConstantDecay",
                                             "A rate for each stretch between boundaries.")
        .required<&Piecewise::boundaries>("boundaries")
        .required<&Piecewise::values>("values")
        .option<&Piecewise::name>("name");

using Polynomial = PolynomialDecayOptions;
const ClassDef& polynomial_def =
    schedule<PolynomialDecaySchedule>("optimizers.schedules.PolynomialDecay",
                                      "A rate that falls to another along a polynomial.")
        .required<&Polynomial::initial_learning_rate>("initial_learning_rate")
        .required<&Polynomial::decay_steps>("decay_steps")
        .option<&Polynomial::end_learning_rate>("end_learning_rate")
        .option<&Polynomial::power>("power")
        .option<&Polynomial::cycle>("cycle")
        .option<&Polynomial::name>("name");

using Inverse = InverseTimeDecayOptions;
const ClassDef& inverse_def =
    schedule<InverseTimeDecaySchedule>("optimizers.schedules.InverseTimeDecay",
                                       "A rate that falls as one over the time.")
        .required<&Inverse::initial_learning_rate>("initial_learning_rate")
        .required<&Inverse::decay_steps>("decay_steps")
        .required<&Inverse::decay_rate>("decay_rate")
        .option<&Inverse::staircase>("staircase")
        .option<&Inverse::name>("name");

using Cosine = CosineDecayOptions;
const ClassDef& cosine_def =
    schedule<CosineDecaySchedule>("optimizers.schedules.CosineDecay",
                                  "A rate that falls along half a cosine, after a warm-up.")
        .required<&Cosine::initial_learning_rate>("initial_learning_rate")
        .required<&Cosine::decay_steps>("decay_steps")
        .option<&Cosine::alpha>("alpha")
        .option<&Cosine::name>("name")
        .option<&Cosine::warmup_target>("warmup_target")
        .option<&Cosine::warmup_steps>("warmup_steps");

using Restarts = CosineDecayRestartsOptions;
const ClassDef& restarts_def =
    schedule<CosineDecayRestartsSchedule>("optimizers.schedules.CosineDecayRestarts",
                                          "A rate that falls along half a cosine, again and again.")
        .required<&Restarts::initial_learning_rate>("initial_learning_rate")
        .required<&Restarts::first_decay_steps>("first_decay_steps")
        .option<&Restarts::t_mul>("t_mul")
        .option<&Restarts::m_mul>("m_mul")
        .option<&Restarts::alpha>("alpha")
        .option<&Restarts::name>("name");

}  // namespace

const ClassDef& ExponentialDecaySchedule::definition() const { return exponential_def; }
const ClassDef& PiecewiseConstantDecaySchedule::definition() const { return piecewise_def; }
const ClassDef& PolynomialDecaySchedule::definition() const { return polynomial_def; }
const ClassDef& InverseTimeDecaySchedule::definition() const { return inverse_def; }
const ClassDef& CosineDecaySchedule::definition() const { return cosine_def; }
const ClassDef& CosineDecayRestartsSchedule::definition() const { return restarts_def; }

}  // namespace schedules
}  // namespace holdfast::keras
