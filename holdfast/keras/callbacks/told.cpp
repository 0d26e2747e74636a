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
        .property("epoch", [](const Object& o) -> Config {
          const auto& epochs = history_in(o).epoch;
          return Config::List(epochs.begin(), epochs.end());
        });

}  // namespace

const ClassDef& HistoryCallback::definition() const { return history_class; }

void HistoryCallback::on_epoch_end(int64_t epoch, Logs& logs) {
  history.epoch.push_back(epoch);
  auto add = [](auto& all, const std::string& name, const auto& value) {
    auto it = std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.first == name; });
    if (it == all.end()) it = all.insert(it, {name, {}});
    it->second.push_back(value);
  };
  for (const auto& [name, value] : logs) add(history.history, name, value);
  for (const Logs::Array& a : logs.arrays()) add(history.arrays, a.name, a.values);
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
