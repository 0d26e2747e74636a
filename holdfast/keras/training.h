// Training: what `compile` is told, what `fit`, `evaluate` and `predict` do.
#pragma once

#include <optional>

#include "holdfast/keras/loss.h"
#include "holdfast/keras/metric.h"
#include "holdfast/keras/model.h"
#include "holdfast/keras/optimizer.h"

namespace holdfast::data {
class Dataset;
}

namespace holdfast::keras {

class LossWatch;
struct ModelOutputs;

/// Something for each output of a model: one for all of them, or by the outputs' names or places.
/// An output inside of others is named with them: "heads/0".
template <class T>
struct PerOutput {
  PerOutput() = default;
  template <ConvertsTo<T> U>
  PerOutput(U one, const std::source_location& at = std::source_location::current()) {
    if constexpr (std::is_constructible_v<T, U, const std::source_location&>)
      all.emplace_back(std::string(), T(std::move(one), at));
    else
      all.emplace_back(std::string(), T(std::move(one)));
  }
  PerOutput(std::initializer_list<std::pair<std::string, T>> by_name) : all(by_name) {}
  PerOutput(std::vector<std::pair<std::string, T>> by_name) : all(std::move(by_name)) {}
  bool empty() const { return all.empty(); }
  /// By name; an empty name stands for a place, or, alone, for every output.
  std::vector<std::pair<std::string, T>> all;
};

/// A loss: its name, its config, itself, or code. Training tells of it by the name it was given by:
/// "mse" as `mse_loss`. "crossentropy" is the one that the shapes of labels and predictions tell.
struct LossItem : Choice<Loss> {
  using Choice<Loss>::Choice;
  LossItem(Choice<Loss> loss) : Choice<Loss>(std::move(loss)) {}
  [[gnu::always_inline]] LossItem(const char* name,
                                  const std::source_location& at = std::source_location::current())
      : LossItem(Config(name), at) {}
  [[gnu::always_inline]] LossItem(const std::string& name,
                                  const std::source_location& at = std::source_location::current())
      : LossItem(Config(name), at) {}
  [[gnu::always_inline]] LossItem(
      const Config& config, const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    set(config, Loss::kFolder);
  }
  HOLDFAST_API void set(const Config& config, const std::string& what);
};

/// A metric: its name, its config, or itself.
struct MetricItem : Config {
  using Config::Config;
  MetricItem(const Config& config) : Config(config) {}
  template <class M>
    requires ConvertsTo<M*, Object*>
  MetricItem(const Ref<M>& metric) : Config(Ref<Object>(metric)) {}
  template <class M>
  MetricItem(const Held<M>& metric) : Config(Ref<Object>(metric.ref())) {}
};
using Metrics = std::vector<MetricItem>;

struct CompileOptions {
  Choice<Optimizer> optimizer = "rmsprop";
  PerOutput<LossItem> loss = {};
  std::vector<std::pair<std::string, double>> loss_weights = {};
  // Where there are several outputs, one for each of them.
  Metrics metrics = {}, weighted_metrics = {};
  // By the outputs' names, or by their places.
  std::vector<std::pair<std::string, Metrics>> output_metrics = {};
  std::vector<std::pair<std::string, Metrics>> output_weighted_metrics = {};
  bool run_eagerly = false;
  int64_t steps_per_execution = 1;  // how many run before callbacks are told
  bool auto_scale_loss = true;      // of models that compute in float16
};

/// The options that a config of `compile` says.
HOLDFAST_API CompileOptions compile_options(const ConfigDict& config);

/// What a model was compiled with, and its state. No module: its variables are none of the model's.
class HOLDFAST_API Compiled final : public Object {
 public:
  static const ObjectClass kClass;
  const ObjectClass& object_class() const override { return kClass; }
  explicit Compiled(const CompileOptions& options);
  ~Compiled() override;
  const CompileOptions& options() const { return options_; }
  const Ref<Optimizer>& optimizer() const { return options_.optimizer.function; }
  /// The options as Keras writes them to files.
  Config config() const;

  /// Finds out which loss and metrics each output has, from the first batch.
  void prepare(const Nested& y, const Nested& y_pred, const ModelOutputs& outputs);
  Tensor loss(const Nested& y, const Nested& y_pred, const Nested& sample_weight,
              const ModelOutputs& outputs);
  void update_metrics(const Nested& y, const Nested& y_pred, const Nested& sample_weight,
                      const ModelOutputs& outputs);
  /// The mean of the losses of an epoch.
  void track(const Tensor& loss, const Tensor& examples);
  /// Whether any step has told it: one of the program's own need not.
  bool tracked() const;
  /// What is told of, one after the other: losses, then metrics.
  struct Told {
    std::string name, plain;  // with the name of its output, where there are several, and without
    Ref<Metric> metric;
    Nested value;
    bool loss = false;
    bool part = false;  // one of several numbers that the metric says by names of their own
  };
  std::vector<Told> told();
  std::vector<Ref<Metric>> metrics() const;
  /// The mean of the loss, made on first sight.
  Metric& loss_tracker();
  /// What sees the first loss that is not finite.
  LossWatch& watch() const { return *watch_; }
  void visit(Visitor&) const override;

 private:
  struct Output {
    std::string name;
    std::vector<Ref<Metric>> metrics, weighted;
    std::vector<const Metric*> own;  // those that are objects of the program
  };
  // A part of the loss: of one output, which may have several; or of all that lie in one place.
  struct Term {
    size_t output;  // the first of those that lie at `whole`
    std::string name;
    Ref<Loss> loss;
    double weight = 1;
    Ref<Metric> tracker = {};  // where there are several terms
    std::string whole = {};    // where a loss is given for a list or dict of outputs: its path
  };
  Tensor of_whole(const Term& term, const std::vector<Nested>& truths, const Nested& y_pred,
                  const Nested& sample_weight) const;
  void add_terms(const ModelOutputs& outputs);
  CompileOptions options_;
  std::vector<Output> outputs_;
  std::vector<Term> terms_;
  Ref<Metric> tracker_;
  Ref<LossWatch> watch_;
  bool prepared_ = false;
};

/// Batches, again for each epoch.
class HOLDFAST_API BatchSource : public RefCounted {
 public:
  /// Begins an epoch.
  virtual void begin() = 0;
  /// The next batch: `(x,)`, `(x, y)` or `(x, y, sample_weight)`. False at the end.
  virtual bool next(Nested& batch) = 0;
  /// Batches of an epoch; -1 where that is not known.
  virtual int64_t batches() const { return -1; }
  /// Where it stands, with what later epochs draw, as bytes for files; none where it can't say.
  virtual std::optional<std::string> position() const { return {}; }
  /// Goes on from there, in place of `begin`.
  virtual void resume(std::string_view position);
};

struct ArrayOptions {
  int64_t batch_size = 32;
  bool shuffle = false;
  double leave_out_last = 0;  // a share of the examples that is not for training
  bool only_last = false;     // the share that is left out, and nothing else
};
/// Batches of arrays; all have the same number of rows.
HOLDFAST_API Ref<BatchSource> array_source(const Nested& x, const Nested& y,
                                           const Nested& sample_weight, const ArrayOptions&);

/// The elements of a dataset are the batches: `x`, or tuples as above.
HOLDFAST_API Ref<BatchSource> dataset_source(const data::Dataset& dataset);

/// How much examples of each class weigh; of others 1.
using ClassWeights = std::vector<std::pair<int64_t, double>>;
/// The weights of examples by their targets: numbers of classes, or one-hot.
HOLDFAST_API Tensor weights_by_class(const Tensor& y, const ClassWeights& weights);

/// What a model is tried on between epochs: arrays `{x, y}` or `{x, y, sample_weight}`, or a
/// dataset of batches.
struct HOLDFAST_API ValidationData {
  ValidationData() = default;
  ValidationData(Nested given) : arrays(std::move(given)) {}
  ValidationData(Nested x, Nested y) : arrays(std::move(x), std::move(y)) {}
  ValidationData(Nested x, Nested y, Nested sample_weight)
      : arrays(std::move(x), std::move(y), std::move(sample_weight)) {}
  ValidationData(const data::Dataset& dataset) : batches(dataset_source(dataset)) {}
  Nested arrays = {};
  Ref<BatchSource> batches = {};
};

struct FitOptions {
  int64_t batch_size = 32;
  int64_t epochs = 1;
  int64_t verbose = 1;
  std::vector<Ref<Callback>> callbacks = {};
  double validation_split = 0;
  ValidationData validation_data = {};
  bool shuffle = true;
  ClassWeights class_weight = {};
  Nested sample_weight = {};
  int64_t initial_epoch = 0;
  std::optional<int64_t> steps_per_epoch = {};
  std::optional<int64_t> validation_steps = {};
  std::optional<int64_t> validation_batch_size = {};
  std::vector<int64_t> validation_epochs = {};  // after which; empty: after every `validation_freq`
  int64_t validation_freq = 1;
};

/// What `fit` gives: the numbers of each epoch.
struct HOLDFAST_API History {
  std::vector<int64_t> epoch;
  std::vector<std::pair<std::string, std::vector<double>>> history;
  std::vector<std::pair<std::string, std::vector<Tensor>>> arrays;  // of metrics of several numbers
  /// The numbers of a name; refused where there are none.
  const std::vector<double>& operator[](std::string_view name) const;
};

HOLDFAST_API History fit(ModelLayer& model, const Nested& x, const Nested& y,
                         const FitOptions& = {});
HOLDFAST_API History fit(ModelLayer& model, const data::Dataset& batches, const FitOptions& = {});
/// The same from batches. `validation` may be null.
HOLDFAST_API History fit(ModelLayer& model, BatchSource& batches, BatchSource* validation,
                         const FitOptions&);

struct EvaluateOptions {
  int64_t batch_size = 32;
  int64_t verbose = 1;
  Nested sample_weight = {};
  std::optional<int64_t> steps = {};
  std::vector<Ref<Callback>> callbacks = {};
};
HOLDFAST_API Logs evaluate(ModelLayer& model, const Nested& x, const Nested& y,
                           const EvaluateOptions& = {});
HOLDFAST_API Logs evaluate(ModelLayer& model, const data::Dataset& batches,
                           const EvaluateOptions& = {});
HOLDFAST_API Logs evaluate(ModelLayer& model, BatchSource& batches, const EvaluateOptions&,
                           Callbacks* around = nullptr);
HOLDFAST_API Nested predict(ModelLayer& model, const Nested& x, const EvaluateOptions& = {});
HOLDFAST_API Nested predict(ModelLayer& model, const data::Dataset& batches,
                            const EvaluateOptions& = {});
HOLDFAST_API Nested predict(ModelLayer& model, BatchSource& batches, const EvaluateOptions&);

/// Where progress is written: standard output, or what a language sets.
struct Output {
  void (*write)(const std::string& text);
  bool (*is_terminal)();
};
HOLDFAST_API Output& training_output();

}  // namespace holdfast::keras
