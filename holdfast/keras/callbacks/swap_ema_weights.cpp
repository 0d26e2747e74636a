// Evaluation with the moving averages of weights.
#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/callbacks.h"
#include "holdfast/keras/model.h"
#include "holdfast/keras/optimizers/loss_scale.h"

namespace holdfast::keras {
namespace {

ClassDef& swap_class =
    Declare<SwapEMAWeightsCallback>(
        "callbacks.SwapEMAWeights",
        "Evaluates with the moving averages of weights, which the optimizer keeps.",
        &Callback::def())
        .option<&SwapEMAWeightsOptions::swap_on_epoch>("swap_on_epoch");

// The optimizer that moves the weights; refused where it keeps no averages.
const Optimizer& averaging(ModelLayer& model) {
  const Optimizer* o = model.compiled("SwapEMAWeights").optimizer().get();
  if (auto* scaled = dynamic_cast<const optimizers::LossScaleOptimizerObject*>(o))
    o = scaled->inner().get();
  if (!o->common().use_ema)
    fail(Code::E1104, cat("SwapEMAWeights: ", o->described(), " keeps no averages of weights"),
         "they are kept where the optimizer has `use_ema`",
         {manual_fix("make the optimizer with its option `use_ema`")});
  return *o;
}

}  // namespace

const ClassDef& SwapEMAWeightsCallback::definition() const { return swap_class; }

bool SwapEMAWeightsCallback::wants(Moment m) const {
  switch (m) {
    case Moment::kEpochBegin:
    case Moment::kEpochEnd: return options_.swap_on_epoch;
    case Moment::kTestBegin:
    case Moment::kTestEnd:
    case Moment::kPredictBegin:
    case Moment::kPredictEnd: return true;
    default: return false;
  }
}

void SwapEMAWeightsCallback::swap(bool averages) {
  if (swapped_ == averages) return;
  const Optimizer& o = averaging(*model());
  swapped_ = averages;
  const std::vector<Variable>& weights = o.trained();
  for (size_t i = 0; i < weights.size() && i < o.averages().size(); ++i) {
    Tensor now = weights[i].read();
    weights[i].assign(o.averages()[i].read());
    o.averages()[i].assign(now);
  }
}

void SwapEMAWeightsCallback::on_epoch_begin(int64_t, Logs&) {
  if (options_.swap_on_epoch) swap(false);
}

void SwapEMAWeightsCallback::on_epoch_end(int64_t epoch, Logs&) {
  if (!options_.swap_on_epoch) return;
  swap(true);
  // After the last epoch the averages stay in the model, and `fit` writes what the optimizer has.
  if (epoch != plan().epochs - 1 && !model()->stop_training) return;
  const Optimizer& o = averaging(*model());
  for (size_t i = 0; i < o.trained().size() && i < o.averages().size(); ++i)
    o.averages()[i].assign(o.trained()[i].read());
  swapped_ = false;
}

}  // namespace holdfast::keras
