// Callbacks that only keep or pass on what they are told.
#include <algorithm>

#include "holdfast/keras/callbacks.h"

namespace holdfast::keras {
namespace {

const History& history_in(const Object& o) {
  return dynamic_cast<const HistoryCallback&>(o).history;
}

ClassDef& history_class =
    Declare<HistoryCallback>("callbacks.History", "The numbers of each epoch: `history[\"loss\"]`.",
                             &Callback::def())
        .property("epoch",
                  [](const Object& o) -> Config {
                    const auto& epochs = history_in(o).epoch;
                    return Config::List(epochs.begin(), epochs.end());
                  })
        .property("history", [](const Object& o) -> Config {
          ConfigDict out;
          for (const auto& [name, values] : history_in(o).history)
            out.set(name, Config::List(values.begin(), values.end()));
          return out;
        });

}  // namespace

const ClassDef& HistoryCallback::definition() const { return history_class; }

void HistoryCallback::on_epoch_end(int64_t epoch, Logs& logs) {
  history.epoch.push_back(epoch);
  for (const auto& [name, value] : logs) {
    auto it = std::find_if(history.history.begin(), history.history.end(),
                           [&, &n = name](const auto& e) { return e.first == n; });
    if (it == history.history.end()) it = history.history.insert(it, {name, {}});
    it->second.push_back(value);
  }
}

bool LambdaCallbackObject::wants(Moment m) const {
  const LambdaOptions& o = options_;
  switch (m) {
    case Moment::kEpochBegin: return static_cast<bool>(o.on_epoch_begin);
    case Moment::kEpochEnd: return static_cast<bool>(o.on_epoch_end);
    case Moment::kTrainBegin: return static_cast<bool>(o.on_train_begin);
    case Moment::kTrainEnd: return static_cast<bool>(o.on_train_end);
    case Moment::kTrainBatchBegin: return static_cast<bool>(o.on_train_batch_begin);
    case Moment::kTrainBatchEnd: return static_cast<bool>(o.on_train_batch_end);
    default: return false;
  }
}

void LambdaCallbackObject::tell(Moment m, int64_t index, Logs& logs) {
  const LambdaOptions& o = options_;
  switch (m) {
    case Moment::kEpochBegin: return o.on_epoch_begin(index, logs);
    case Moment::kEpochEnd: return o.on_epoch_end(index, logs);
    case Moment::kTrainBegin: return o.on_train_begin(logs);
    case Moment::kTrainEnd: return o.on_train_end(logs);
    case Moment::kTrainBatchBegin: return o.on_train_batch_begin(index, logs);
    case Moment::kTrainBatchEnd: return o.on_train_batch_end(index, logs);
    default: return;
  }
}

}  // namespace holdfast::keras
