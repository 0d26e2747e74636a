// Training that goes on after it was interrupted.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "holdfast/base/diagnostic.h"
#include "holdfast/io/atomic_file.h"
#include "holdfast/io/checksums.h"
#include "holdfast/io/safetensors.h"
#include "holdfast/keras/callbacks.h"
#include "holdfast/keras/model.h"
#include "holdfast/keras/saving/model_files.h"
#include "holdfast/keras/seed_generator.h"
#include "holdfast/keras/training.h"

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

// A state is three files. What a run goes on with in the middle of an epoch has to be of one
// moment: the state, which is written last, knows the position of the data by its sum, the weights
// by their step.
struct Files {
  const char *weights, *position, *state;
};
constexpr Files kLast{"latest.weights.h5", "latest.position", "training_metadata.json"};
// The one before the last, if two are kept. What reads weights wants names that end so.
constexpr Files kBefore{"previous.weights.h5", "previous.position", "previous_metadata.json"};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Where a model's streams of random numbers stand, which are none of its weights.
std::vector<Variable> streams_of(const ModelLayer& model) {
  std::vector<Variable> out, weights = model.variables();
  for (const Variable& v : variables_and_seeds(model))
    if (std::find(weights.begin(), weights.end(), v) == weights.end()) out.push_back(v);
  return out;
}

// The position of the data, as bytes, and the values of those variables.
constexpr const char* kData = "data";
void write_position(const std::string& path, const std::string& data,
                    const std::vector<Variable>& variables) {
  ByName<Tensor> tensors;
  std::vector<uint8_t> bytes(data.begin(), data.end());
  tensors[kData] = Tensor::of<uint8_t>(bytes, Shape{static_cast<int64_t>(bytes.size())});
  for (size_t i = 0; i < variables.size(); ++i)
    tensors[cat("streams/", i)] = copy_to(variables[i].read(), cpu());
  io::write_safetensors(path, tensors);
}

// The data's position, which has a sum; none, and nothing is changed, where it has another one or
// the variables are others.
std::optional<std::string> take_position(const std::string& path, int64_t sum,
                                         const std::vector<Variable>& variables) {
  ByName<Tensor> tensors = io::read_safetensors(path);
  auto data = tensors.find(kData);
  if (data == tensors.end() || tensors.size() != variables.size() + 1) return {};
  auto bytes = data->second.span<uint8_t>();
  std::string position(bytes.begin(), bytes.end());
  if (io::crc32c(position) != sum) return {};
  std::vector<Tensor> values;
  for (size_t i = 0; i < variables.size(); ++i) {
    auto found = tensors.find(cat("streams/", i));
    if (found == tensors.end() || found->second.dtype() != variables[i].dtype() ||
        found->second.shape() != variables[i].shape())
      return {};
    values.push_back(found->second);
  }
  for (size_t i = 0; i < variables.size(); ++i) variables[i].assign(values[i]);
  return position;
}

// How many steps an optimizer has made; of none where there is no optimizer.
int64_t steps_of(const ModelLayer& model) {
  const Ref<Optimizer>& o = model.compiled("BackupAndRestore").optimizer();
  return o ? o->iterations().read().item<int64_t>() : 0;
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
  epoch_ = batches_done_ = 0;
  if (!model()->built())
    fail(Code::E1104,
         cat("BackupAndRestore: ", model()->described(), " is not built, so nothing of it can be ",
             "restored"),
         "weights are made when the shape of the inputs is known",
         {manual_fix("call the model once, or its `build`, before `fit`")});
  restore();
}

void BackupAndRestoreCallback::restore() {
  auto there = [&](const Files& files) {
    std::error_code none;
    return fs::exists(file(files.weights), none) && fs::exists(file(files.state), none);
  };
  bool last = there(kLast), before = there(kBefore);
  if (!last && !before) return;
  // What the optimizer keeps has to be there before it gets its values.
  const Ref<Optimizer>& optimizer = model()->compiled("BackupAndRestore").optimizer();
  if (optimizer) optimizer->build(model()->trainable_variables());
  ModelLayer::Resumed at;
  auto load = [&](const Files& files) {
    Config state = Config::from_json(read_file(file(files.state)));
    const ConfigDict& told = state.as_dict("the state of a training");
    auto number = [&](const char* key) -> std::optional<int64_t> {
      const Config* found = told.find(key);
      if (!found) return {};
      return found->as_integer(cat("`", key, "` in the state of a training"));
    };
    if (!number("epoch")) fail(Code::E1301, cat("`", file(files.state), "` does not say an epoch"));
    load_weights(*model(), file(files.weights));
    at = {.epoch = *number("epoch")};
    const std::string beside = file(files.position);
    const std::optional<int64_t> sum = number("position");
    std::error_code none;
    if (!sum || number("steps") != steps_of(*model()) || !fs::exists(beside, none)) return;
    auto position = take_position(beside, *sum, streams_of(*model()));
    if (!position || position->empty()) return;
    at.batches = number("batches").value_or(0);
    at.position = std::move(*position);
  };
  try {
    load(last ? kLast : kBefore);
  } catch (const Error&) {
    if (!last || !before) throw;
    load(kBefore);  // the last state is broken, and the one before is there
  }
  epoch_ = at.epoch;
  if (at.epoch > 0 || !at.position.empty()) model()->resumes_at = std::move(at);
}

void BackupAndRestoreCallback::on_train_batch_end(int64_t batch, Logs&) {
  batches_done_ = batch + 1;
  int64_t every = options_.save_freq.batches;
  if (every > 0 && batches_.reached(batch, every)) save();
}

void BackupAndRestoreCallback::on_epoch_end(int64_t epoch, Logs&) {
  epoch_ = epoch + 1;
  batches_done_ = 0;
  if (options_.save_freq.batches == 0) save();
}

void BackupAndRestoreCallback::save() {
  std::error_code failed;
  fs::create_directories(options_.backup_dir, failed);
  need(failed, "made", options_.backup_dir);
  if (options_.double_checkpoint)
    for (auto name : {&Files::weights, &Files::position, &Files::state})
      if (std::string from = file(kLast.*name); fs::exists(from, failed)) {
        fs::copy_file(from, file(kBefore.*name), fs::copy_options::overwrite_existing, failed);
        need(failed, "copied", from);
      }
  std::string position = plan().batches ? plan().batches->position().value_or("") : "";
  save_weights(*model(), file(kLast.weights));
  write_position(file(kLast.position), position, streams_of(*model()));
  std::string state = Config(ConfigDict{{"epoch", epoch_},
                                        {"batch", std::max<int64_t>(0, batches_done_ - 1)},
                                        {"batches", batches_done_},
                                        {"steps", steps_of(*model())},
                                        {"position", int64_t{io::crc32c(position)}}})
                          .to_json();
  io::AtomicFile out(file(kLast.state));
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
