// Keras' callbacks: #include <holdfast/keras/callbacks.h>. A program's own derive from `Callback`.
#pragma once

#include "holdfast/base/owned.h"
#include "holdfast/keras/callbacks/monitor.h"
#include "holdfast/keras/training.h"

namespace holdfast::keras {

struct NoCallbackOptions {};

/// Keeps the numbers of each epoch. `fit` has one of its own and gives what it kept.
class HOLDFAST_API HistoryCallback : public Declares<NoCallbackOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  bool wants(Moment m) const override { return m == Moment::kTrainBegin || m == Moment::kEpochEnd; }
  void on_train_begin(Logs&) override { history.epoch.clear(); }
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  History history;
};

/// Shows how training goes: a line that is redrawn on a terminal, one line per epoch elsewhere.
class HOLDFAST_API ProgbarLoggerCallback : public Declares<NoCallbackOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  bool wants(Moment) const override;
  bool reads_logs(Moment m) const override { return !is_batch(m) || redraws(); }
  void on_train_begin(Logs&) override { training_ = true; }
  void on_train_end(Logs&) override { training_ = false; }
  void on_epoch_begin(int64_t epoch, Logs&) override;
  void on_train_batch_end(int64_t batch, Logs& logs) override { draw(batch, logs); }
  void on_epoch_end(int64_t, Logs& logs) override { finish(logs); }
  void on_test_begin(Logs&) override;
  void on_test_batch_end(int64_t batch, Logs& logs) override;
  void on_test_end(Logs& logs) override;
  void on_predict_begin(Logs&) override { start(); }
  void on_predict_batch_end(int64_t batch, Logs& logs) override { draw(batch, logs); }
  void on_predict_end(Logs& logs) override { finish(logs); }

 private:
  void start();
  bool redraws() const;
  void draw(int64_t batch, const Logs& logs);
  void finish(const Logs& logs);
  std::string line(const Logs& logs, const std::string& time, bool done) const;

  int64_t done_ = 0;
  double began_ = 0, drawn_ = 0;  // seconds of a steady clock
  bool redraws_ = false, training_ = false;
};

/// Calls functions of the program.
struct LambdaOptions {
  using OfEpoch = holdfast::Callback<void(int64_t, Logs&)>;
  using OfAll = holdfast::Callback<void(Logs&)>;
  OfEpoch on_epoch_begin = {}, on_epoch_end = {};
  OfAll on_train_begin = {}, on_train_end = {};
  OfEpoch on_train_batch_begin = {}, on_train_batch_end = {};
};
class HOLDFAST_API LambdaCallbackObject : public Callback {
 public:
  using Options = LambdaOptions;
  void configure(const LambdaOptions& o) { options_ = o; }
  std::string text() const override { return "the callback LambdaCallback"; }
  bool wants(Moment) const override;
  void tell(Moment moment, int64_t index, Logs& logs) override;

 private:
  LambdaOptions options_;
};

/// The rate of an epoch: `schedule(epoch, rate of the one before)`.
struct HOLDFAST_API RateFunction {
  RateFunction() = default;
  template <class F>
    requires std::is_invocable_r_v<double, F&, int64_t, double>
  RateFunction(F f) : call(std::move(f)) {}
  holdfast::Callback<double(int64_t epoch, double rate)> call = {};
  Ref<ForeignFunction> foreign = {};  // that of another language
};
template <>
struct HOLDFAST_API OptionType<RateFunction> {
  static Config get(const RateFunction& v);
  static void set(RateFunction& v, const Config& c, const std::string& what);
};
struct LearningRateSchedulerOptions {
  RateFunction schedule = {};
  int64_t verbose = 0;
};
class HOLDFAST_API LearningRateSchedulerCallback
    : public Declares<LearningRateSchedulerOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  void visit(Visitor& see) const override { see.child(options_.schedule.foreign); }
  bool wants(Moment m) const override { return m == Moment::kEpochBegin || m == Moment::kEpochEnd; }
  void on_epoch_begin(int64_t epoch, Logs&) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
};

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
/// Makes the learning rate smaller when a number stops improving.
class HOLDFAST_API ReduceLROnPlateauCallback : public Declares<PlateauOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  bool wants(Moment m) const override { return m == Moment::kTrainBegin || m == Moment::kEpochEnd; }
  void on_train_begin(Logs&) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  int64_t wait() const { return wait_; }
  void set_wait(int64_t epochs) { wait_ = epochs; }
  /// For how many epochs more it waits for nothing.
  int64_t cooldown_counter() const { return cooling_; }
  const Monitor& monitor() const { return monitor_; }
  /// Goes on from a value that counts as the best yet; from none, as at the beginning.
  void set_best(std::optional<double> value);

 private:
  void check() override;
  Monitor monitor_;
  int64_t wait_ = 0, cooling_ = 0;
  bool warned_ = false;
};

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
/// Ends training when a number has not become better for some epochs.
class HOLDFAST_API EarlyStoppingCallback : public Declares<EarlyStoppingOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  bool wants(Moment m) const override {
    return m == Moment::kTrainBegin || m == Moment::kEpochEnd || m == Moment::kTrainEnd;
  }
  void on_train_begin(Logs&) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  void on_train_end(Logs&) override;
  /// The epoch after which it stopped training; 0 where it did not.
  int64_t stopped_epoch() const { return stopped_; }
  int64_t best_epoch() const { return best_epoch_; }
  int64_t wait() const { return wait_; }
  void set_wait(int64_t epochs) { wait_ = epochs; }
  const Monitor& monitor() const { return monitor_; }
  /// Goes on from a value that counts as the best yet; from none, as at the beginning.
  void set_best(std::optional<double> value);

 private:
  void check() override;
  void keep(int64_t epoch);

  Monitor monitor_;
  int64_t wait_ = 0, stopped_ = 0, best_epoch_ = 0;
  std::vector<Tensor> best_;
  bool warned_ = false;
};

struct TerminateOnNaNOptions {
  bool raise_error = false;  // throw, not end quietly
};
/// Ends training when the loss is no finite number.
class HOLDFAST_API TerminateOnNaNCallback : public Declares<TerminateOnNaNOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  bool wants(Moment m) const override { return m == Moment::kTrainBatchEnd; }
  void on_train_batch_end(int64_t batch, Logs& logs) override;
};

struct CSVLoggerOptions {
  std::string filename = {};
  std::string separator = ",";
  bool append = false;
};
/// Writes the numbers of each epoch to a file, a line at a time.
class HOLDFAST_API CSVLoggerCallback : public Declares<CSVLoggerOptions, Callback> {
 public:
  ~CSVLoggerCallback() override;
  const ClassDef& definition() const override;
  bool wants(Moment m) const override {
    return m == Moment::kTrainBegin || m == Moment::kEpochEnd || m == Moment::kTrainEnd;
  }
  void on_train_begin(Logs&) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  void on_train_end(Logs&) override { close(); }

 private:
  void close();
  void* file_ = nullptr;  // a FILE
  std::vector<std::string> keys_;
  bool begun_ = false;
};

/// When something is written: after each epoch, or after so many batches.
struct HOLDFAST_API SaveFrequency {
  [[gnu::always_inline]] SaveFrequency(
      const char* when, const std::source_location& at = std::source_location::current())
      : batches((mark_caller(at), batches_of(when))) {}
  [[gnu::always_inline]] SaveFrequency(
      const std::string& when, const std::source_location& at = std::source_location::current())
      : SaveFrequency(when.c_str(), at) {}
  SaveFrequency(int64_t every) : batches(every) {}
  int64_t batches = 0;  // 0: after each epoch

 private:
  static int64_t batches_of(const std::string& when);
};
template <>
struct HOLDFAST_API OptionType<SaveFrequency> {
  static Config get(const SaveFrequency& v);
  static void set(SaveFrequency& v, const Config& c, const std::string& what);
};
/// Counts batches until something is to be written again.
class HOLDFAST_API BatchCounter {
 public:
  /// Whether it is time, after the batch of a number.
  bool reached(int64_t batch, int64_t every);
  void forget() { since_ = 0, last_ = -1; }

 private:
  int64_t since_ = 0, last_ = -1;
};

struct ModelCheckpointOptions {
  std::string filepath = {};  // may have fields: "{epoch:02d}-{val_loss:.2f}.keras"
  std::string monitor = "val_loss";
  int64_t verbose = 0;
  bool save_best_only = false;
  bool save_weights_only = false;
  std::string mode = "auto";
  SaveFrequency save_freq = "epoch";
  std::optional<double> initial_value_threshold = {};
};
/// Saves the model, or its weights: all the time, or when it is the best yet.
class HOLDFAST_API ModelCheckpointCallback : public Declares<ModelCheckpointOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  bool wants(Moment) const override;
  void on_epoch_begin(int64_t epoch, Logs&) override { epoch_ = epoch; }
  void on_train_batch_end(int64_t batch, Logs& logs) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  /// The best value yet; nothing before the first.
  std::optional<double> best() const { return best_; }
  void set_best(std::optional<double> value) { best_ = value; }

 private:
  void check() override;
  void save(std::optional<int64_t> batch, const Logs& logs);
  bool due(const Logs& logs, const std::string& path);

  Monitor monitor_;
  std::optional<double> best_;
  BatchCounter batches_;
  int64_t epoch_ = 0;
  bool warned_ = false;
};

struct BackupAndRestoreOptions {
  std::string backup_dir = {};
  SaveFrequency save_freq = "epoch";
  bool double_checkpoint = false;
  bool delete_checkpoint = true;
};
/// Writes the state of training to a folder, and goes on from there when training begins again:
/// with the weights, the optimizer, the streams of random numbers, and the data where it was, in
/// the middle of an epoch too (`save_freq` in batches). What is trained is what would have been,
/// bit for bit; means that are told of the epoch begin there. Where data can't say its place (a
/// generator), the epoch begins anew; so it does if `latest.position` is removed from the folder.
class HOLDFAST_API BackupAndRestoreCallback : public Declares<BackupAndRestoreOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  bool wants(Moment) const override;
  bool reads_logs(Moment) const override { return false; }
  void on_train_begin(Logs&) override;
  void on_train_batch_end(int64_t batch, Logs&) override;
  void on_epoch_end(int64_t epoch, Logs&) override;
  void on_train_end(Logs&) override;

 private:
  void check() override;
  void restore();
  void save();
  std::string file(const char* name) const;

  BatchCounter batches_;
  int64_t epoch_ = 0, batches_done_ = 0;
};

struct SwapEMAWeightsOptions {
  bool swap_on_epoch = false;
};
/// Evaluates with the moving averages of weights that the optimizer keeps (`use_ema`), and trains
/// on with the weights themselves.
class HOLDFAST_API SwapEMAWeightsCallback : public Declares<SwapEMAWeightsOptions, Callback> {
 public:
  const ClassDef& definition() const override;
  bool wants(Moment) const override;
  bool reads_logs(Moment) const override { return false; }
  void on_epoch_begin(int64_t, Logs&) override;
  void on_epoch_end(int64_t epoch, Logs&) override;
  void on_test_begin(Logs&) override { swap(true); }
  void on_test_end(Logs&) override { swap(false); }
  void on_predict_begin(Logs&) override { swap(true); }
  void on_predict_end(Logs&) override { swap(false); }

 private:
  /// Brings the averages into the model, or the weights back, if they are not there.
  void swap(bool averages);
  bool swapped_ = false;
};

struct TensorBoardOptions {
  std::string log_dir = "logs";
  int64_t histogram_freq = 0;
  bool write_graph = true;
  bool write_images = false;
  bool write_steps_per_second = false;
  Config update_freq = "epoch";  // "epoch", "batch", or a number of batches
  Config profile_batch = 0;
  int64_t embeddings_freq = 0;
  Config embeddings_metadata = {};
};
class EventFile;
/// Writes numbers where TensorBoard finds them: below `train` and `validation` of a folder.
class HOLDFAST_API TensorBoardCallback : public Declares<TensorBoardOptions, Callback> {
 public:
  TensorBoardCallback();
  ~TensorBoardCallback() override;
  const ClassDef& definition() const override;
  bool wants(Moment) const override;
  bool reads_logs(Moment m) const override { return !is_batch(m) || every_ > 0; }
  void begin(ModelLayer* model, const TrainingPlan& plan) override;
  void on_train_begin(Logs&) override;
  void on_train_end(Logs&) override;
  void on_test_end(Logs& logs) override;
  void on_epoch_begin(int64_t, Logs&) override;
  void on_epoch_end(int64_t epoch, Logs& logs) override;
  void on_train_batch_begin(int64_t batch, Logs&) override;
  void on_train_batch_end(int64_t batch, Logs& logs) override;

 private:
  void check() override;
  EventFile& writer(bool validation);
  double steps() const;

  int64_t every_ = 0;  // batches; 0: after each epoch
  int64_t batches_ = 0, batch_began_ = 0;
  double epoch_began_ = 0, steps_before_ = 0, batch_time_ = 0;
  bool training_ = false, graph_written_ = false;
  Owned<EventFile> train_, validation_;
};

namespace callbacks {

using BackupAndRestore = Held<BackupAndRestoreCallback>;
using CSVLogger = Held<CSVLoggerCallback>;
using EarlyStopping = Held<EarlyStoppingCallback>;
using History = Held<HistoryCallback>;
using LambdaCallback = Held<LambdaCallbackObject>;
using LearningRateScheduler = Held<LearningRateSchedulerCallback>;
using ModelCheckpoint = Held<ModelCheckpointCallback>;
using ProgbarLogger = Held<ProgbarLoggerCallback>;
using ReduceLROnPlateau = Held<ReduceLROnPlateauCallback>;
using SwapEMAWeights = Held<SwapEMAWeightsCallback>;
using TensorBoard = Held<TensorBoardCallback>;
using TerminateOnNaN = Held<TerminateOnNaNCallback>;

}  // namespace callbacks

}  // namespace holdfast::keras
