// Numbers of training for TensorBoard.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/callbacks.h"
#include "holdfast/keras/callbacks/event_file.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/optimizer_of.h"
#include "holdfast/keras/sequential.h"

namespace holdfast::keras {
namespace {

using O = TensorBoardOptions;
ClassDef& board =
    Declare<TensorBoardCallback>("callbacks.TensorBoard",
                                 "Writes numbers where TensorBoard finds them: below `train` and "
                                 "`validation` of a folder.",
                                 &Callback::def())
        .option<&O::log_dir>("log_dir")
        .option<&O::histogram_freq>("histogram_freq")
        .option<&O::write_graph>("write_graph")
        .option<&O::write_images>("write_images")
        .option<&O::write_steps_per_second>("write_steps_per_second")
        .option<&O::update_freq>("update_freq")
        .option<&O::profile_batch>("profile_batch")
        .option<&O::embeddings_freq>("embeddings_freq")
        .option<&O::embeddings_metadata>("embeddings_metadata");

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void not_written(const char* option, const Config& value) {
  fail(Code::E1105,
       cat("TensorBoard: `", option, "` is ", value.text(), ", which is not supported"),
       "numbers of epochs and batches are written, and what layers a model has",
       {manual_fix(cat("leave `", option, "` out"))});
}

// The model's layers as TensorBoard draws them; nothing where they have no config.
std::string drawn(const ModelLayer& model) {
  auto* graph = dynamic_cast<const FunctionalLayer*>(&model);
  if (!(graph && graph->has_graph()) && !dynamic_cast<const SequentialLayer*>(&model)) return {};
  try {
    return Config(serialize(model)).to_json();
  } catch (const Error&) {
    return {};  // a program's own layer need not have one, and training does not need it
  }
}

}  // namespace

const ClassDef& TensorBoardCallback::definition() const { return board; }
TensorBoardCallback::TensorBoardCallback() = default;
TensorBoardCallback::~TensorBoardCallback() = default;

void TensorBoardCallback::check() {
  const O& o = options_;
  if (o.histogram_freq != 0) not_written("histogram_freq", o.histogram_freq);
  if (o.write_images) not_written("write_images", o.write_images);
  if (o.embeddings_freq != 0) not_written("embeddings_freq", o.embeddings_freq);
  if (!o.embeddings_metadata.is_null()) not_written("embeddings_metadata", o.embeddings_metadata);
  bool profiles = o.profile_batch.kind() != Config::Kind::kInteger
                      ? !o.profile_batch.is_null()
                      : o.profile_batch.as_integer() != 0;
  if (profiles) not_written("profile_batch", o.profile_batch);
  const Config& f = o.update_freq;
  if (f.kind() == Config::Kind::kText && (f.as_text() == "epoch" || f.as_text() == "batch"))
    every_ = f.as_text() == "batch" ? 1 : 0;
  else if (f.kind() == Config::Kind::kInteger && f.as_integer() > 0)
    every_ = f.as_integer();
  else
    fail(Code::E1104, cat("TensorBoard: `update_freq` is ", f.text(),
                          ", expected \"epoch\", \"batch\" or a positive number of batches"));
}

bool TensorBoardCallback::wants(Moment m) const {
  switch (m) {
    case Moment::kTrainBatchBegin:
    case Moment::kTrainBatchEnd: return every_ > 0;
    case Moment::kTrainBegin:
    case Moment::kTrainEnd:
    case Moment::kTestEnd:
    case Moment::kEpochBegin:
    case Moment::kEpochEnd: return true;
    default: return false;
  }
}

EventFile& TensorBoardCallback::writer(bool validation) {
  Owned<EventFile>& one = validation ? validation_ : train_;
  if (!one)
    one = make_owned<EventFile>(
        (std::filesystem::path(options_.log_dir) / (validation ? "validation" : "train")).string());
  return *one;
}

double TensorBoardCallback::steps() const {
  return optimizer_of(*model(), "TensorBoard").iterations().read().to_double();
}

void TensorBoardCallback::begin(ModelLayer* model, const TrainingPlan& plan) {
  Callback::begin(model, plan);
  graph_written_ = false;
}

void TensorBoardCallback::on_train_begin(Logs&) {
  training_ = true;
  batches_ = 0;
  EventFile& file = writer(false);
  if (!options_.write_graph || graph_written_) return;
  graph_written_ = true;
  if (std::string text = drawn(*model()); !text.empty())
    file.text("keras", text, 0, "graph_keras_model", "1");
}

void TensorBoardCallback::on_train_end(Logs&) {
  training_ = false;
  train_ = {};
  validation_ = {};
}

void TensorBoardCallback::on_test_end(Logs& logs) {
  EventFile& file = writer(true);
  auto step = static_cast<int64_t>(steps());
  for (const auto& [name, value] : logs)
    file.scalar(cat("evaluation_", name, "_vs_iterations"), value, step);
  file.flush();
  if (!training_) validation_ = {};
}

void TensorBoardCallback::on_epoch_begin(int64_t, Logs&) {
  if (!options_.write_steps_per_second) return;
  steps_before_ = steps();
  epoch_began_ = seconds_now();
}

void TensorBoardCallback::on_epoch_end(int64_t epoch, Logs& logs) {
  EventFile& file = writer(false);
  bool rate_told = false;
  for (const auto& [name, value] : logs) {
    rate_told = rate_told || name == "learning_rate";
    if (name.starts_with("val_"))
      writer(true).scalar(cat("epoch_", name.substr(4)), value, epoch);
    else
      file.scalar(cat("epoch_", name), value, epoch);
  }
  Optimizer& optimizer = optimizer_of(*model(), "TensorBoard");
  if (!rate_told && optimizer.has_rate())
    file.scalar("epoch_learning_rate", optimizer.learning_rate().to_double(), epoch);
  if (options_.write_steps_per_second)
    file.scalar("epoch_steps_per_second",
                (steps() - steps_before_) / std::max(1e-9, seconds_now() - epoch_began_), epoch);
  file.flush();
  if (validation_) validation_->flush();
}

void TensorBoardCallback::on_train_batch_begin(int64_t batch, Logs&) {
  batch_began_ = batch;
  if (options_.write_steps_per_second) batch_time_ = seconds_now();
}

// One execution may be several batches; the numbers are those after the last.
void TensorBoardCallback::on_train_batch_end(int64_t batch, Logs& logs) {
  if (every_ == 0) return;
  int64_t before = batches_;
  batches_ += batch - batch_began_ + 1;
  if (before / every_ == batches_ / every_) return;
  EventFile& file = writer(false);
  if (options_.write_steps_per_second)
    file.scalar(
        "batch_steps_per_second",
        static_cast<double>(batches_ - before) / std::max(1e-9, seconds_now() - batch_time_),
        batches_);
  for (const auto& [name, value] : logs) file.scalar(cat("batch_", name), value, batches_);
}

}  // namespace holdfast::keras
