// Saves the model while it is trained.
#include <cstdio>
#include <filesystem>

#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/callbacks.h"
#include "holdfast/keras/callbacks/file_pattern.h"
#include "holdfast/keras/saving/model_files.h"

namespace holdfast::keras {
namespace {

using O = ModelCheckpointOptions;
ClassDef& checkpoint =
    Declare<ModelCheckpointCallback>(
        "callbacks.ModelCheckpoint",
        "Saves the model, or its weights: all the time, or when it is the best yet.",
        &Callback::def())
        .required<&O::filepath>("filepath")
        .option<&O::monitor>("monitor")
        .option<&O::verbose>("verbose")
        .option<&O::save_best_only>("save_best_only")
        .option<&O::save_weights_only>("save_weights_only")
        .option<&O::mode>("mode")
        .option<&O::save_freq>("save_freq")
        .option<&O::initial_value_threshold>("initial_value_threshold")
        .property("best", [](const Object& o) -> Config {
          return dynamic_cast<const ModelCheckpointCallback&>(o).best();
        });

std::string five_digits(double v) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.5f", v);
  return buffer;
}

void say(int64_t epoch, const std::string& what) {
  training_output().write(cat("\nEpoch ", epoch + 1, ": ", what, "\n"));
}

}  // namespace

const ClassDef& ModelCheckpointCallback::definition() const { return checkpoint; }

int64_t SaveFrequency::batches_of(const std::string& when) {
  if (when != "epoch")
    fail(Code::E1104,
         cat("`save_freq` is \"", when, "\", expected \"epoch\" or a number of batches"));
  return 0;
}

Config OptionType<SaveFrequency>::get(const SaveFrequency& v) {
  return v.batches ? Config(v.batches) : Config("epoch");
}

void OptionType<SaveFrequency>::set(SaveFrequency& v, const Config& c, const std::string& what) {
  if (c.kind() == Config::Kind::kText) {
    v = SaveFrequency(c.as_text());
    return;
  }
  v.batches = c.kind() == Config::Kind::kInteger ? c.as_integer() : 0;
  if (v.batches < 1)
    fail(Code::E1104,
         cat(what, " is ", c.text(), ", expected \"epoch\" or a positive number of batches"));
}

bool BatchCounter::reached(int64_t batch, int64_t every) {
  since_ += batch <= last_ ? batch + 1 : batch - last_;  // a smaller number: the next epoch
  last_ = batch;
  if (since_ < every) return false;
  since_ = 0;
  return true;
}

void ModelCheckpointCallback::check() {
  const O& o = options_;
  const char* ending = o.save_weights_only ? ".weights.h5" : ".keras";
  if (!o.filepath.ends_with(ending))
    fail(Code::E1104,
         cat("ModelCheckpoint: `filepath` is `", o.filepath, "`, expected one that ends with `",
             ending, "`"),
         o.save_weights_only ? "`save_weights_only` writes a file of weights"
                             : "whole models are saved in Keras' own files");
  monitor_.set(o.monitor, o.mode, 0, "ModelCheckpoint");
  best_ = o.initial_value_threshold;
}

bool ModelCheckpointCallback::wants(Moment m) const {
  bool on_batches = options_.save_freq.batches > 0;
  return m == Moment::kEpochBegin || m == (on_batches ? Moment::kTrainBatchEnd : Moment::kEpochEnd);
}

void ModelCheckpointCallback::on_train_batch_end(int64_t batch, Logs& logs) {
  int64_t every = options_.save_freq.batches;
  if (every > 0 && batches_.reached(batch, every)) save(batch, logs);
}

void ModelCheckpointCallback::on_epoch_end(int64_t epoch, Logs& logs) {
  epoch_ = epoch;
  if (options_.save_freq.batches == 0) save({}, logs);
}

bool ModelCheckpointCallback::due(const Logs& logs, const std::string& path) {
  const O& o = options_;
  const double* now =
      o.save_best_only ? monitored(logs, o.monitor, "ModelCheckpoint", warned_) : nullptr;
  if (!now) {  // without the number every model is saved, lest all be lost
    if (o.verbose > 0) say(epoch_, cat("saving model to ", path));
    return true;
  }
  monitor_.decide(*model());
  std::string before = best_ ? five_digits(*best_) : "None";
  bool better = !best_ || monitor_.improves(*now, *best_);
  if (o.verbose > 0)
    say(epoch_, better ? cat(o.monitor, " improved from ", before, " to ", five_digits(*now),
                             ", saving model to ", path)
                       : cat(o.monitor, " did not improve from ", before));
  if (better) best_ = *now;
  return better;
}

void ModelCheckpointCallback::save(std::optional<int64_t> batch, const Logs& logs) {
  std::vector<FieldValue> fields{{"epoch", static_cast<double>(epoch_ + 1), true}};
  if (batch) fields.push_back({"batch", static_cast<double>(*batch + 1), true});
  for (const auto& [name, value] : logs) fields.push_back({name, value, false});
  std::string path = fill_in(options_.filepath, fields, "`filepath` of ModelCheckpoint");
  if (!due(logs, path)) return;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  if (failed)
    fail(Code::E1301, cat("ModelCheckpoint: the folder `", folder.string(),
                          "` can't be made: ", failed.message()));
  if (options_.save_weights_only)
    save_weights(*model(), path);
  else
    save_model(*model(), path);
  if (options_.verbose > 0) say(epoch_, cat("finished saving model to ", path));
}

}  // namespace holdfast::keras
