// Ends training when a number does not get better, or is no number.
#include "holdfast/keras/callbacks/monitor.h"
#include "holdfast/keras/model.h"
#include "holdfast/keras/training.h"

namespace holdfast::keras {

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

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int64_t patience = 0;
  int64_t verbose = 0;
  std::string mode = "auto";
  std::optional<double> baseline = {};
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;
};

class EarlyStopping : public Declares<EarlyStoppingOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  bool wants(Moment m) const override {
    return m == Moment::kTrainBegin || m == Moment::kEpochEnd || m == Moment::kTrainEnd;
  }
  void on_train_begin(Logs&) override {
    monitor_.forget();
    wait_ = stopped_ = 0;
    best_.clear();
    best_epoch_ = 0;
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    const double* now = monitored(logs, options_.monitor, "EarlyStopping", warned_);
    if (!now || epoch < options_.start_from_epoch) return;
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
  void on_train_end(Logs&) override {
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

 private:
  void check() override {
    monitor_.set(options_.monitor, options_.mode, options_.min_delta, "EarlyStopping");
  }
  void keep(int64_t epoch) {
    best_.clear();
    for (const Variable& v : model()->variables()) best_.push_back(v.read());
    best_epoch_ = epoch;
  }

  Monitor monitor_;
  int64_t wait_ = 0, stopped_ = 0, best_epoch_ = 0;
  std::vector<Tensor> best_;
  bool warned_ = false;
};

using E = EarlyStoppingOptions;
ClassDef& early_stopping =
    Declare<EarlyStopping>("callbacks.EarlyStopping",
                           "Ends training when a number has not become better for some epochs.",
                           &Callback::def())
        .option<&E::monitor>("monitor")
        .option<&E::min_delta>("min_delta")
        .option<&E::patience>("patience")
        .option<&E::verbose>("verbose")
        .option<&E::mode>("mode")
        .option<&E::baseline>("baseline")
        .option<&E::restore_best_weights>("restore_best_weights")
        .option<&E::start_from_epoch>("start_from_epoch");
const ClassDef& EarlyStopping::definition() const { return early_stopping; }

struct NoOptions {};

class TerminateOnNaN : public Declares<NoOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  bool wants(Moment m) const override { return m == Moment::kTrainBatchEnd; }
  void on_train_batch_end(int64_t batch, Logs& logs) override {
    const double* loss = logs.find("loss");
    if (!loss || std::isfinite(*loss)) return;
    training_output().write(cat("Batch ", batch, ": Invalid loss, terminating training\n"));
    model()->stop_training = true;
  }
};
ClassDef& terminate =
    Declare<TerminateOnNaN>("callbacks.TerminateOnNaN",
                            "Ends training when the loss is no finite number.", &Callback::def());
const ClassDef& TerminateOnNaN::definition() const { return terminate; }

}  // namespace
}  // namespace holdfast::keras
