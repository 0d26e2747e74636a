// Ends training when a number does not get better, or is no number.
#include <cmath>

#include "holdfast/keras/callbacks.h"
#include "holdfast/keras/foreign_metric.h"
#include "holdfast/keras/model.h"
#include "holdfast/keras/training.h"

namespace holdfast::keras {
namespace {

// What a metric's name, or that of its class, tells: whether it is to become large.
std::optional<bool> told_by(const std::string& name) {
  if (name == "loss" || name.ends_with("_loss")) return false;  // whatever output it is of
  auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  for (const char* part :
       {"acc", "auc", "precision", "recall", "f1", "beta_score", "fbeta", "iou", "io_u", "r2_score",
        "correlation", "similarity", "sensitivity", "specificity"})
    if (has(part)) return true;
  for (const char* part : {"loss", "error", "mse", "mae", "mape", "msle", "crossentropy", "hinge",
                           "divergence", "kld", "poisson", "logcosh"})
    if (has(part)) return false;
  return std::nullopt;
}

}  // namespace

void Monitor::set(const std::string& name, const std::string& mode, double min_delta,
                  const std::string& callback) {
  if (mode != "auto" && mode != "min" && mode != "max")
    unknown_identifier(cat("`mode` of ", callback), mode, {"auto", "max", "min"});
  name_ = name;
  callback_ = callback;
  decided_ = mode != "auto";
  rises_ = decided_ ? mode == "max" : told_by(name).value_or(false);
  least_ = std::fabs(min_delta);
  forget();
}

void Monitor::decide(const ModelLayer& model) {
  if (decided_) return;
  std::optional<bool> rises;
  const std::string told = name_.starts_with("val_") ? name_.substr(4) : name_;
  std::string plain = told;
  if (model.is_compiled())
    for (const Compiled::Told& one : model.compiled().told())
      if (one.name == told) {
        plain = one.plain;  // the name of an output tells nothing
        bool said = false;
        if (metric_hooks().rises && metric_hooks().rises(*one.metric, said))
          rises = said;
        else
          rises = one.loss ? false : told_by(snake_case(one.metric->class_name()));
      }
  if (!rises) rises = told_by(plain);
  if (!rises)
    fail(Code::E1103,
         cat(callback_, ": `mode` is \"auto\", and nothing tells whether `", name_,
             "` is to become large or small"),
         "neither the class of a metric of that name nor the name itself is known",
         {manual_fix("say it: `mode` \"max\" or \"min\"")});
  decided_ = true;
  if (*rises == rises_) return;
  bool fresh = std::isinf(best_);
  rises_ = *rises;
  if (fresh) forget();
}

const double* monitored(const Logs& logs, const std::string& name, const std::string& callback,
                        bool& warned) {
  const double* found = logs.find(name);
  if (!found && !warned) {
    warned = true;
    std::string known;
    for (const auto& [key, value] : logs) known += cat(known.empty() ? "" : ", ", key);
    training_output().write(cat("warning: ", callback, " watches `", name,
                                "`, which is not there; there are: ", known, "\n"));
  }
  return found;
}

namespace {

Config best_of(const Monitor& m) {
  return std::isfinite(m.best_yet()) ? Config(m.best_yet()) : Config();
}

using E = EarlyStoppingOptions;
ClassDef& early_stopping =
    Declare<EarlyStoppingCallback>(
        "callbacks.EarlyStopping",
        "Ends training when a number has not become better for some epochs.", &Callback::def())
        .option<&E::monitor>("monitor")
        .option<&E::min_delta>("min_delta")
        .option<&E::patience>("patience")
        .option<&E::verbose>("verbose")
        .option<&E::mode>("mode")
        .option<&E::baseline>("baseline")
        .option<&E::restore_best_weights>("restore_best_weights")
        .option<&E::start_from_epoch>("start_from_epoch")
        .property("stopped_epoch",
                  [](const Object& o) -> Config {
                    return dynamic_cast<const EarlyStoppingCallback&>(o).stopped_epoch();
                  })
        .property("best_epoch",
                  [](const Object& o) -> Config {
                    return dynamic_cast<const EarlyStoppingCallback&>(o).best_epoch();
                  })
        .property("wait",
                  [](const Object& o) -> Config {
                    return dynamic_cast<const EarlyStoppingCallback&>(o).wait();
                  })
        .property("_rises",
                  [](const Object& o) -> Config {
                    return dynamic_cast<const EarlyStoppingCallback&>(o).monitor().rises();
                  })
        .property("best", [](const Object& o) {
          return best_of(dynamic_cast<const EarlyStoppingCallback&>(o).monitor());
        });

ClassDef& terminate = Declare<TerminateOnNaNCallback>(
                          "callbacks.TerminateOnNaN",
                          "Ends training when the loss is no finite number.", &Callback::def())
                          .option<&TerminateOnNaNOptions::raise_error>("raise_error");

}  // namespace

const ClassDef& EarlyStoppingCallback::definition() const { return early_stopping; }
const ClassDef& TerminateOnNaNCallback::definition() const { return terminate; }

void EarlyStoppingCallback::check() {
  monitor_.set(options_.monitor, options_.mode, options_.min_delta, "EarlyStopping");
}

void EarlyStoppingCallback::keep(int64_t epoch) {
  best_.clear();
  for (const Variable& v : model()->variables()) best_.push_back(v.read());
  best_epoch_ = epoch;
}

void EarlyStoppingCallback::set_best(std::optional<double> value) { monitor_.set_best(value); }
void EarlyStoppingCallback::on_train_begin(Logs&) {
  monitor_.forget();
  wait_ = stopped_ = 0;
  best_.clear();
  best_epoch_ = 0;
}

void EarlyStoppingCallback::on_epoch_end(int64_t epoch, Logs& logs) {
  const double* now = monitored(logs, options_.monitor, "EarlyStopping", warned_);
  if (!now || epoch < options_.start_from_epoch) return;
  monitor_.decide(*model());
  if (options_.restore_best_weights && best_.empty()) keep(epoch);
  ++wait_;
  if (monitor_.best(*now)) {
    if (options_.restore_best_weights) keep(epoch);
    best_epoch_ = epoch;
    if (!options_.baseline || monitor_.improves(*now, *options_.baseline)) wait_ = 0;
    return;
  }
  if (wait_ >= options_.patience && epoch > 0) {
    stopped_ = epoch;
    model()->stop_training = true;
  }
}

void EarlyStoppingCallback::on_train_end(Logs&) {
  if (stopped_ > 0 && options_.verbose > 0)
    training_output().write(cat("Epoch ", stopped_ + 1, ": early stopping\n"));
  if (best_.empty()) return;
  if (options_.verbose > 0)
    training_output().write(
        cat("Restoring model weights from the end of the best epoch: ", best_epoch_ + 1, ".\n"));
  std::vector<Variable> weights = model()->variables();
  for (size_t i = 0; i < weights.size() && i < best_.size(); ++i) weights[i].assign(best_[i]);
  best_.clear();
}

void TerminateOnNaNCallback::on_train_batch_end(int64_t batch, Logs& logs) {
  const double* loss = logs.find("loss");
  if (!loss || std::isfinite(*loss)) return;
  if (options_.raise_error) {
    Diagnostic d;
    d.code = Code::E1106;
    d.op = "TerminateOnNaN";
    d.headline = cat("TerminateOnNaN: the loss of batch ", batch, " is ", *loss,
                     ", expected a finite number");
    d.labels.push_back(used_here("the model is trained here"));
    throw Error(std::move(d));
  }
  training_output().write(cat("Batch ", batch, ": Invalid loss, terminating training\n"));
  model()->stop_training = true;
}

}  // namespace holdfast::keras
