// Callbacks that change the learning rate.
#include <algorithm>

#include "holdfast/keras/callbacks/monitor.h"
#include "holdfast/keras/model.h"
#include "holdfast/keras/training.h"

namespace holdfast::keras {
namespace {

double rate_of(ModelLayer& model) {
  return model.compiled("its learning rate").optimizer()->learning_rate().to_double();
}
void set_rate(ModelLayer& model, double rate) {
  model.compiled("its learning rate").optimizer()->set_learning_rate(rate);
}

struct PlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int64_t patience = 10;
  int64_t verbose = 0;
  std::string mode = "auto";
  double min_delta = 1e-4;
  int64_t cooldown = 0;
  double min_lr = 0;
};

class ReduceLROnPlateau : public Declares<PlateauOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  bool wants(Moment m) const override { return m == Moment::kTrainBegin || m == Moment::kEpochEnd; }
  void on_train_begin(Logs&) override {
    monitor_.forget();
    wait_ = cooling_ = 0;
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    logs.set("learning_rate", rate_of(*model()));
    const double* now = monitored(logs, options_.monitor, "ReduceLROnPlateau", warned_);
    if (!now) return;
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
      training_output().write(cat("\nEpoch ", epoch + 1,
                                  ": ReduceLROnPlateau reducing learning rate to ", fresh, ".\n"));
    cooling_ = options_.cooldown;
    wait_ = 0;
  }

 private:
  void check() override {
    if (options_.factor >= 1)
      fail(Code::E1103,
           cat("ReduceLROnPlateau: `factor` is ", options_.factor, ", expected less than 1"));
    monitor_.set(options_.monitor, options_.mode, options_.min_delta, "ReduceLROnPlateau");
  }
  Monitor monitor_;
  int64_t wait_ = 0, cooling_ = 0;
  bool warned_ = false;
};

using P = PlateauOptions;
ClassDef& plateau =
    Declare<ReduceLROnPlateau>("callbacks.ReduceLROnPlateau",
                               "Makes the learning rate smaller when a number stops improving.",
                               &Callback::def())
        .option<&P::monitor>("monitor")
        .option<&P::factor>("factor")
        .option<&P::patience>("patience")
        .option<&P::verbose>("verbose")
        .option<&P::mode>("mode")
        .option<&P::min_delta>("min_delta")
        .option<&P::cooldown>("cooldown")
        .option<&P::min_lr>("min_lr");
const ClassDef& ReduceLROnPlateau::definition() const { return plateau; }

}  // namespace
}  // namespace holdfast::keras
