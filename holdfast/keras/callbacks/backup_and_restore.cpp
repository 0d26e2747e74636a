// Training that goes on after it was interrupted.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "holdfast/base/diagnostic.h"
#include "holdfast/io/atomic_file.h"
#include "holdfast/keras/callbacks.h"
#include "holdfast/keras/model.h"
#include "holdfast/keras/saving/model_files.h"

namespace holdfast::keras {
namespace {

namespace fs = std::filesystem;

using O = BackupAndRestoreOptions;
ClassDef& backup =
    Declare<BackupAndRestoreCallback>(
        "callbacks.BackupAndRestore",
        "Writes the state of training to a folder, and goes on from there when training begins "
        "again.",
        &Callback::def())
        .required<&O::backup_dir>("backup_dir")
        .option<&O::save_freq>("save_freq")
        .option<&O::double_checkpoint>("double_checkpoint")
        .option<&O::delete_checkpoint>("delete_checkpoint");

constexpr const char *kWeights = "latest.weights.h5", *kState = "training_metadata.json";
// The state before the last, if two are kept. What reads weights wants names that end so.
constexpr const char *kOldWeights = "previous.weights.h5", *kOldState = "previous_metadata.json";

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void need(const std::error_code& failed, const std::string& what, const std::string& path) {
  if (failed)
    fail(Code::E1301,
         cat("BackupAndRestore: `", path, "` can't be ", what, ": ", failed.message()));
}

}  // namespace

const ClassDef& BackupAndRestoreCallback::definition() const { return backup; }

void BackupAndRestoreCallback::check() {
  if (options_.backup_dir.empty())
    fail(Code::E1104, "BackupAndRestore: `backup_dir` is empty, expected the name of a folder");
}

bool BackupAndRestoreCallback::wants(Moment m) const {
  return m == Moment::kTrainBegin || m == Moment::kTrainEnd || m == Moment::kEpochEnd ||
         (m == Moment::kTrainBatchEnd && options_.save_freq.batches > 0);
}

std::string BackupAndRestoreCallback::file(const char* name) const {
  return (fs::path(options_.backup_dir) / name).string();
}

void BackupAndRestoreCallback::on_train_begin(Logs&) {
  batches_.forget();
  epoch_ = batch_ = 0;
  if (!model()->built())
    fail(Code::E1104,
         cat("BackupAndRestore: ", model()->described(), " is not built, so nothing of it can be ",
             "restored"),
         "weights are made when the shape of the inputs is known",
         {manual_fix("call the model once, or its `build`, before `fit`")});
  restore();
}

void BackupAndRestoreCallback::restore() {
  auto there = [&](const char* weights, const char* state) {
    std::error_code none;
    return fs::exists(file(weights), none) && fs::exists(file(state), none);
  };
  bool last = there(kWeights, kState), older = there(kOldWeights, kOldState);
  if (!last && !older) return;
  // What the optimizer keeps has to be there before it gets its values.
  const Ref<Optimizer>& optimizer = model()->compiled("BackupAndRestore").optimizer();
  if (optimizer) optimizer->build(model()->trainable_variables());
  auto load = [&](const char* weights, const char* state) {
    Config told = Config::from_json(read_file(file(state)));
    const Config* epoch = told.as_dict("the state of a training").find("epoch");
    if (!epoch) fail(Code::E1301, cat("`", file(state), "` does not say an epoch"));
    load_weights(*model(), file(weights));
    epoch_ = epoch->as_integer("the epoch of a training's state");
  };
  try {
    load(last ? kWeights : kOldWeights, last ? kState : kOldState);
  } catch (const Error&) {
    if (!last || !older) throw;
    load(kOldWeights, kOldState);  // the last state is broken, and the one before is there
  }
  if (epoch_ > 0) model()->resumes_at = epoch_;
}

void BackupAndRestoreCallback::on_train_batch_end(int64_t batch, Logs&) {
  batch_ = batch;
  int64_t every = options_.save_freq.batches;
  if (every > 0 && batches_.reached(batch, every)) save();
}

void BackupAndRestoreCallback::on_epoch_end(int64_t epoch, Logs&) {
  epoch_ = epoch + 1;
  batch_ = 0;
  if (options_.save_freq.batches == 0) save();
}

void BackupAndRestoreCallback::save() {
  std::error_code failed;
  fs::create_directories(options_.backup_dir, failed);
  need(failed, "made", options_.backup_dir);
  if (options_.double_checkpoint)
    for (auto [from, to] : {std::pair(kWeights, kOldWeights), std::pair(kState, kOldState)})
      if (fs::exists(file(from), failed)) {
        fs::copy_file(file(from), file(to), fs::copy_options::overwrite_existing, failed);
        need(failed, "copied", file(from));
      }
  save_weights(*model(), file(kWeights));
  std::string state = Config(ConfigDict{{"epoch", epoch_}, {"batch", batch_}}).to_json();
  io::AtomicFile out(file(kState));
  out.write(state.data(), state.size());
  out.commit();
}

void BackupAndRestoreCallback::on_train_end(Logs&) {
  if (!options_.delete_checkpoint) return;
  std::error_code failed;
  fs::remove_all(options_.backup_dir, failed);
  need(failed, "deleted", options_.backup_dir);
}

}  // namespace holdfast::keras
