// Callbacks that change the learning rate.
#include <algorithm>
#include <cmath>

#include "holdfast/base/text.h"
#include "holdfast/keras/callbacks.h"
#include "holdfast/keras/model.h"
#include "holdfast/keras/optimizer_of.h"

namespace holdfast::keras {
namespace {

Optimizer& with_rate(ModelLayer& model) {
  Optimizer& optimizer = optimizer_of(model, "a callback that asks for the learning rate");
  if (!optimizer.has_rate())
    fail(Code::E1104, cat("a callback asks for the learning rate of a ", optimizer.class_name()),
         "it has none of its own: each of the optimizers in it has one",
         {manual_fix("set their rates in a callback of your own, or give them schedules")});
  return optimizer;
}
double rate_of(ModelLayer& model) { return with_rate(model).learning_rate().to_double(); }
void set_rate(ModelLayer& model, double rate) { with_rate(model).set_learning_rate(rate); }

using P = PlateauOptions;
ClassDef& plateau =
    Declare<ReduceLROnPlateauCallback>(
        "callbacks.ReduceLROnPlateau",
        "Makes the learning rate smaller when a number stops improving.", &Callback::def())
        .option<&P::monitor>("monitor")
        .option<&P::factor>("factor")
        .option<&P::patience>("patience")
        .option<&P::verbose>("verbose")
        .option<&P::mode>("mode")
        .option<&P::min_delta>("min_delta")
        .option<&P::cooldown>("cooldown")
        .option<&P::min_lr>("min_lr")
        .property("wait",
                  [](const Object& o) -> Config {
                    return dynamic_cast<const ReduceLROnPlateauCallback&>(o).wait();
                  })
        .property("cooldown_counter",
                  [](const Object& o) -> Config {
                    return dynamic_cast<const ReduceLROnPlateauCallback&>(o).cooldown_counter();
                  })
        .property("_rises",
                  [](const Object& o) -> Config {
                    return dynamic_cast<const ReduceLROnPlateauCallback&>(o).monitor().rises();
                  })
        .property("best", [](const Object& o) -> Config {
          double best = dynamic_cast<const ReduceLROnPlateauCallback&>(o).monitor().best_yet();
          return std::isfinite(best) ? Config(best) : Config();
        });

using S = LearningRateSchedulerOptions;
ClassDef& scheduler =
    Declare<LearningRateSchedulerCallback>(
        "callbacks.LearningRateScheduler",
        "Asks a function of an epoch and its rate for the learning rate of each epoch.",
        &Callback::def())
        .required<&S::schedule>("schedule")
        .option<&S::verbose>("verbose");

}  // namespace

const ClassDef& ReduceLROnPlateauCallback::definition() const { return plateau; }
const ClassDef& LearningRateSchedulerCallback::definition() const { return scheduler; }

void ReduceLROnPlateauCallback::set_best(std::optional<double> value) { monitor_.set_best(value); }
void ReduceLROnPlateauCallback::on_train_begin(Logs&) {
  monitor_.forget();
  wait_ = cooling_ = 0;
}

void ReduceLROnPlateauCallback::on_epoch_end(int64_t epoch, Logs& logs) {
  logs.set("learning_rate", rate_of(*model()));
  const double* now = monitored(logs, options_.monitor, "ReduceLROnPlateau", warned_);
  if (!now) return;
  monitor_.decide(*model());
  if (cooling_ > 0) {
    --cooling_;
    wait_ = 0;
  }
  if (monitor_.best(*now)) {
    wait_ = 0;
    return;
  }
  if (cooling_ > 0 || ++wait_ < options_.patience) return;
  double old = rate_of(*model());
  if (!(old > static_cast<float>(options_.min_lr))) return;
  double fresh = std::max(old * options_.factor, options_.min_lr);
  set_rate(*model(), fresh);
  if (options_.verbose > 0)
    training_output().write(
        cat("\nEpoch ", epoch + 1, ": ReduceLROnPlateau reducing learning rate to ", fresh, ".\n"));
  cooling_ = options_.cooldown;
  wait_ = 0;
}

void ReduceLROnPlateauCallback::check() {
  if (options_.factor >= 1)
    fail(Code::E1103,
         cat("ReduceLROnPlateau: `factor` is ", options_.factor, ", expected less than 1"));
  monitor_.set(options_.monitor, options_.mode, options_.min_delta, "ReduceLROnPlateau");
}

Config OptionType<RateFunction>::get(const RateFunction& v) {
  return v.foreign ? Config(Ref<Object>(v.foreign)) : Config();
}

void OptionType<RateFunction>::set(RateFunction& v, const Config& c, const std::string& what) {
  auto* f = dynamic_cast<ForeignFunction*>(c.live());
  if (!f) fail(Code::E1104, cat(what, " is ", c.text(), ", expected a function of the epoch"));
  v.foreign = Ref<ForeignFunction>(f);
}

void LearningRateSchedulerCallback::on_epoch_begin(int64_t epoch, Logs&) {
  const RateFunction& schedule = options_.schedule;
  if (!schedule.foreign && !schedule.call)
    fail(Code::E1104, "LearningRateScheduler: `schedule` is missing");
  double rate = rate_of(*model());
  if (schedule.foreign) {
    Config made = schedule.foreign->of_values({epoch, rate});
    if (made.kind() != Config::Kind::kNumber && made.kind() != Config::Kind::kInteger)
      fail(Code::E1104, cat("`schedule` of LearningRateScheduler gave ", made.text(), " for epoch ",
                            epoch, ", expected a number"));
    rate = made.as_number();
  } else {
    rate = schedule.call(epoch, rate);
  }
  set_rate(*model(), rate);
  if (options_.verbose > 0)
    training_output().write(cat("\nEpoch ", epoch + 1,
                                ": LearningRateScheduler setting learning rate to ", rate, ".\n"));
}

void LearningRateSchedulerCallback::on_epoch_end(int64_t, Logs& logs) {
  logs.set("learning_rate", rate_of(*model()));
}

}  // namespace holdfast::keras
