// The loops of fit, evaluate and predict.
#include <algorithm>
#include <cmath>
#include <utility>

#include "holdfast/base/text.h"
#include "holdfast/data/dataset.h"
#include "holdfast/keras/callbacks.h"
#include "holdfast/keras/input_wait.h"
#include "holdfast/keras/loss_watch.h"
#include "holdfast/keras/step_scope.h"
#include "holdfast/keras/training.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras {
namespace {

// Whether one of the callbacks is of a class, and which.
template <class C>
C* among(const std::vector<Ref<Callback>>& list) {
  for (const Ref<Callback>& c : list)
    if (auto* found = dynamic_cast<C*>(c.get())) return found;
  return nullptr;
}

// The callbacks of a loop: those given, and what shows how it goes.
std::vector<Ref<Callback>> shown(std::vector<Ref<Callback>> list, int64_t verbose) {
  if (verbose > 0 && !among<ProgbarLoggerCallback>(list))
    list.push_back(make_ref<ProgbarLoggerCallback>());
  return list;
}

bool validates_after(const FitOptions& o, int64_t epoch) {
  if (!o.validation_epochs.empty())
    return std::find(o.validation_epochs.begin(), o.validation_epochs.end(), epoch + 1) !=
           o.validation_epochs.end();
  return (epoch + 1) % std::max<int64_t>(1, o.validation_freq) == 0;
}

// How often a loop goes on.
bool more(const std::optional<int64_t>& steps, int64_t done) { return !steps || done < *steps; }

int64_t steps_per_execution(const ModelLayer& model) {
  return model.is_compiled() ? model.compiled().options().steps_per_execution : 1;
}

// Runs steps back to back, beginning with `batch`: as many as callbacks are told of at once.
template <class F>
void execute(StepFunction& step, BatchSource& batches, Nested& batch, int64_t count, int64_t& done,
             const std::optional<int64_t>& steps, F each) {
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0 && !(more(steps, done) && next_batch(batches, batch))) return;
    each(step(batch));
    ++done;
  }
}

bool is_given(const ValidationData& data) { return !data.arrays.is_none() || data.batches; }

// What a model is tried on between epochs, in batches.
Ref<BatchSource> tried_on(const ValidationData& data, const ArrayOptions& arrays) {
  if (data.batches) return data.batches;
  const Nested& v = data.arrays;
  if (!v.is_sequence() || v.size() < 2)
    fail(Code::E1104, cat("`validation_data` is ", v.form(), ", expected (x, y)"));
  return array_source(v[0], v[1], v.size() > 2 ? v[2] : Nested(), arrays);
}

[[noreturn]] void refuse_with_dataset(const char* option) {
  fail(Code::E1104, cat("`", option, "` can't be given with a dataset"),
       "its elements are whole batches: `(x, y)`, or `(x, y, sample_weight)`");
}

// What a loop tells when it is through: what the metrics say now, where the steps tell of the same
// names. A step of the program's own may tell of others; or of its loss without telling the mean.
Logs told_at_end(ModelLayer& model, const Nested& results) {
  Logs last = Logs::of(results);
  Nested now = model.get_metrics_result();
  auto known = [&](const Nested::Entry& e) { return now.find(e.first) != nullptr; };
  const bool same = results.is_dict() && results.size() == now.size() &&
                    std::all_of(results.entries().begin(), results.entries().end(), known);
  if (!same) return last;
  Logs out = Logs::of(now);
  Compiled& c = model.compiled();
  const double* loss = last.find(c.loss_tracker().name());
  for (const Ref<Metric>& m : model.metrics())
    if (m.get() == &c.loss_tracker() && !c.tracked() && loss) out.set(m->name(), *loss);
  return out;
}

// Training goes on with fewer batches than `fit` was asked for, or ends.
void tell_of_end(Where asked, std::string headline, std::string why, std::string fix,
                 const char* what = "training") {
  Diagnostic d;
  d.code = Code::W1403;
  d.severity = Severity::kWarning;
  d.headline = cat(headline, ": the data has no further batch");
  Label label = used_here(cat(what, " was asked for here"));
  label.loc = locate(asked);
  label.primary = true;
  if (label.loc.line > 0) d.labels.push_back(std::move(label));
  d.why = std::move(why);
  d.fixes.push_back(manual_fix(std::move(fix)));
  warn(std::move(d));
}

// A loop over data was to make so many steps.
void tell_of_fewer(Where asked, const char* loop, const char* what,
                   const std::optional<int64_t>& steps, int64_t done) {
  if (done == 0)
    tell_of_end(asked, cat("`", loop, "` has nothing to tell"),
                "the data ended before the first batch", "give at least one batch", what);
  else if (more(steps, done) && steps)
    tell_of_end(asked, cat("`", loop, "` ended after step ", done, " of ", *steps),
                "`steps` is more than the data has",
                "give the dataset `repeat()`, or a smaller `steps`", what);
}

// A loop over a dataset without an end would have none either.
void check_end(const data::Dataset& batches, const std::optional<int64_t>& steps,
               const char* option) {
  if (steps || batches.cardinality() != data::kInfinite) return;
  fail(Code::E1104, cat("the dataset has no end, and `", option, "` is not given"),
       "an epoch ends with the data, or after so many batches",
       {manual_fix(cat("give `", option, "`, or end the dataset with `take`"))});
}

}  // namespace

Tensor weights_by_class(const Tensor& y, const ClassWeights& weights) {
  if (y.rank() == 0) fail(Code::E1102, "`y` is a scalar, expected a target for each example");
  int64_t rows = y.dim(0), wide = y.size() / std::max<int64_t>(1, rows);
  int64_t classes = y.rank() > 1 ? y.dim(y.rank() - 1) : 1;  // of one-hot targets
  InterpreterScope eagerly(nullptr);
  NoTapes unseen;
  std::vector<float> targets = cast(y, float32).to_vector<float>();
  // One-hot targets are at most 1: larger whole numbers in a row are classes of several steps.
  auto is_class = [](float v) { return v == std::floor(v); };
  const bool steps = classes > 1 && std::all_of(targets.begin(), targets.end(), is_class) &&
                     std::any_of(targets.begin(), targets.end(), [](float v) { return v > 1; });
  if (y.rank() > 2 || steps)
    fail(
        Code::E1102,
        cat("`class_weight` is given for targets of the shape ", y.shape().text(),
            ", expected one class for each example: [n], [n, 1] or one-hot [n, classes]"),
        "it weighs whole examples, and steps that have classes of their own have no class together",
        {manual_fix("give a weight for each step as `sample_weight`")});
  std::vector<float> out(static_cast<size_t>(rows), 1.0f);
  for (int64_t i = 0; i < rows; ++i) {
    auto first = targets.begin() + i * wide;
    int64_t label =
        classes > 1 ? std::max_element(first, first + classes) - first : std::lround(*first);
    for (const auto& [of, weight] : weights)
      if (of == label) out[static_cast<size_t>(i)] = static_cast<float>(weight);
  }
  return Tensor::of<float>(out, Shape{rows});
}

const std::vector<double>& History::operator[](std::string_view name) const {
  std::vector<std::string> known;
  for (const auto& [key, values] : history) {
    if (key == name) return values;
    known.push_back(key);
  }
  unknown_identifier("a number of the history", std::string(name), known);
}

History fit(ModelLayer& model, const Nested& x, const Nested& y, const FitOptions& o) {
  model.compiled("`fit`");
  Nested weight = o.sample_weight;
  if (!o.class_weight.empty()) {
    if (!weight.is_none())
      fail(Code::E1104, "`class_weight` and `sample_weight` can't be given both");
    weight = weights_by_class(y.tensor("`y` with `class_weight`"), o.class_weight);
  }
  const bool apart = is_given(o.validation_data);
  ArrayOptions arrays{.batch_size = o.batch_size,
                      .shuffle = o.shuffle,
                      .leave_out_last = apart ? 0 : o.validation_split};
  Ref<BatchSource> train = array_source(x, y, weight, arrays), test;
  arrays.shuffle = false;
  arrays.batch_size = o.validation_batch_size.value_or(o.batch_size);
  if (apart) {
    test = tried_on(o.validation_data, arrays);
  } else if (o.validation_split > 0) {
    arrays.only_last = true;
    test = array_source(x, y, weight, arrays);
  }
  return fit(model, *train, test.get(), o);
}

History fit(ModelLayer& model, const data::Dataset& batches, const FitOptions& o) {
  const char* not_for_batches = !o.sample_weight.is_none() ? "sample_weight"
                                : !o.class_weight.empty()  ? "class_weight"
                                : o.validation_split != 0  ? "validation_split"
                                                           : nullptr;
  if (not_for_batches) refuse_with_dataset(not_for_batches);
  Ref<BatchSource> train = dataset_source(batches), test;
  check_end(batches, o.steps_per_epoch, "steps_per_epoch");
  if (is_given(o.validation_data))
    test =
        tried_on(o.validation_data, {.batch_size = o.validation_batch_size.value_or(o.batch_size)});
  return fit(model, *train, test.get(), o);
}

History fit(ModelLayer& model, BatchSource& batches, BatchSource* validation, const FitOptions& o) {
  Where line = here();
  AskedHere asked(line);
  model.compiled("`fit`");
  if (o.epochs < 0) fail(Code::E1103, cat("`epochs` is ", o.epochs, ", expected at least 0"));
  Ref<ModelLayer> keep(&model);
  std::vector<Ref<Callback>> list = shown(o.callbacks, o.verbose);
  Ref<HistoryCallback> recorder(among<HistoryCallback>(list));
  if (!recorder) list.push_back(recorder = make_ref<HistoryCallback>());
  int64_t steps = o.steps_per_epoch ? *o.steps_per_epoch : batches.batches();
  Callbacks callbacks(std::move(list), &model,
                      {o.epochs, o.initial_epoch, steps, o.verbose, &batches});

  model.stop_training = false;
  Ref<StepFunction> step = model.make_step(ModelLayer::StepKind::kTrain);
  model.resumes_at.reset();
  Ref<LossWatch> watch(&model.compiled().watch());
  watch->reset();
  SmallStates states(model);
  bool told_of_nan = false, trained = false;
  callbacks.tell(Moment::kTrainBegin);
  Logs logs;
  const auto resumed = model.resumes_at.value_or(ModelLayer::Resumed{.epoch = o.initial_epoch});
  const int64_t first = resumed.epoch;
  int64_t behind = 0;      // batches of an epoch that another run trained on
  bool under_way = false;  // the data goes on where it is
  if (!resumed.position.empty()) {
    batches.resume(resumed.position);
    behind = resumed.batches;
    under_way = behind > 0 || o.steps_per_epoch;
  }
  const int64_t at_once = steps_per_execution(model);
  for (int64_t epoch = first; epoch < o.epochs; ++epoch) {
    model.reset_metrics();
    callbacks.tell(Moment::kEpochBegin, epoch);
    if (!under_way) batches.begin();
    under_way = o.steps_per_epoch.has_value();
    Nested batch, results;
    const int64_t before = std::exchange(behind, 0);
    int64_t done = before;
    bool reads = callbacks.reads_logs(Moment::kTrainBatchEnd);
    while (more(o.steps_per_epoch, done)) {
      if (!next_batch(batches, batch)) {
        if (!o.steps_per_epoch || done > 0) break;
        batches.begin();  // an endless training over data that ends
        if (!next_batch(batches, batch)) break;
      }
      callbacks.tell(Moment::kTrainBatchBegin, done);
      states.note();
      const int64_t begun = done;
      execute(*step, batches, batch, at_once, done, o.steps_per_epoch, [&](Nested made) {
        results = std::move(made);
        if (watch->fired() && !told_of_nan) {
          told_of_nan = true;
          report_not_finite(model, batch, *watch, states, {epoch, done, line});
        }
        if (at_once > 1 && !told_of_nan) states.note();  // for the next of them
      });
      if (epoch == first && begun == before) states = SmallStates(model);  // it is built now
      Logs now = reads ? Logs::of(results) : Logs();
      callbacks.tell(Moment::kTrainBatchEnd, done - 1, now);
      if (model.stop_training) break;
    }
    if (done == 0) {
      if (epoch == first)
        tell_of_end(line, "`fit` trained nothing", "the data ended before the first batch",
                    "give at least one batch");
      else
        tell_of_end(line, cat("`fit` ended after epoch ", epoch, " of ", o.epochs),
                    "a generator is used up once; a dataset begins anew for each epoch",
                    "give a dataset, or as many batches as all epochs take");
      break;
    }
    if (o.steps_per_epoch && done > 0 && done < *o.steps_per_epoch && !model.stop_training)
      tell_of_end(line,
                  cat("epoch ", epoch + 1, " of ", o.epochs, " ended after step ", done, " of ",
                      *o.steps_per_epoch),
                  "`steps_per_epoch` is more than what is left of the data",
                  "give the dataset `repeat()`, or a smaller `steps_per_epoch`");
    trained = true;
    logs = results.is_none() ? Logs() : told_at_end(model, results).sorted();
    if (validation && validates_after(o, epoch)) {
      EvaluateOptions quiet{.verbose = 0, .steps = o.validation_steps};
      evaluate(model, *validation, quiet, &callbacks)
          .sorted()
          .each(
              [&](const std::string& name, const auto& value) { logs.set("val_" + name, value); });
    }
    logs = logs.sorted();
    Logs shared = logs;  // what callbacks add is for those after them, at this moment alone
    callbacks.tell(Moment::kEpochEnd, epoch, shared);
    if (model.stop_training) break;
  }
  if (model.is_compiled() && o.epochs > 0 && (trained || first >= o.epochs))
    if (const Ref<Optimizer>& by =
            model.compiled().optimizer())  // none: steps are the program's own
      by->finalize_variable_values(model.trainable_variables());
  callbacks.tell(Moment::kTrainEnd, 0, logs);
  return recorder->history;
}

Logs evaluate(ModelLayer& model, const Nested& x, const Nested& y, const EvaluateOptions& o) {
  Ref<BatchSource> source = array_source(x, y, o.sample_weight, {.batch_size = o.batch_size});
  return evaluate(model, *source, o);
}

Logs evaluate(ModelLayer& model, const data::Dataset& batches, const EvaluateOptions& o) {
  if (!o.sample_weight.is_none()) refuse_with_dataset("sample_weight");
  check_end(batches, o.steps, "steps");
  return evaluate(model, *dataset_source(batches), o);
}

Logs evaluate(ModelLayer& model, BatchSource& batches, const EvaluateOptions& o,
              Callbacks* around) {
  Where line = here();
  std::optional<AskedHere> asked;
  if (!around) asked.emplace(line);
  model.compiled("`evaluate`");
  Ref<ModelLayer> keep(&model);
  std::optional<Callbacks> own;
  if (!around) {
    int64_t steps = o.steps ? *o.steps : batches.batches();
    around =
        &own.emplace(shown(o.callbacks, o.verbose), &model, TrainingPlan{1, 0, steps, o.verbose});
  }
  Ref<StepFunction> step = model.make_step(ModelLayer::StepKind::kTest);
  model.stop_evaluating = false;
  model.reset_metrics();
  around->tell(Moment::kTestBegin);
  batches.begin();
  Nested batch, results;
  int64_t done = 0;
  const int64_t at_once = steps_per_execution(model);
  bool reads = around->reads_logs(Moment::kTestBatchEnd);
  while (more(o.steps, done) && next_batch(batches, batch)) {
    around->tell(Moment::kTestBatchBegin, done);
    execute(*step, batches, batch, at_once, done, o.steps,
            [&](Nested made) { results = std::move(made); });
    Logs now = reads ? Logs::of(results) : Logs();
    around->tell(Moment::kTestBatchEnd, done - 1, now);
    if (model.stop_evaluating) break;
  }
  if (!model.stop_evaluating) tell_of_fewer(line, "evaluate", "evaluation", o.steps, done);
  Logs logs = done > 0 ? told_at_end(model, results) : Logs();
  around->tell(Moment::kTestEnd, 0, logs);
  return logs;
}

Nested predict(ModelLayer& model, const Nested& x, const EvaluateOptions& o) {
  Ref<BatchSource> source = array_source(x, {}, {}, {.batch_size = o.batch_size});
  return predict(model, *source, o);
}

Nested predict(ModelLayer& model, const data::Dataset& batches, const EvaluateOptions& o) {
  check_end(batches, o.steps, "steps");
  return predict(model, *dataset_source(batches), o);
}

Nested predict(ModelLayer& model, BatchSource& batches, const EvaluateOptions& o) {
  Where line = here();
  Ref<ModelLayer> keep(&model);
  int64_t steps = o.steps ? *o.steps : batches.batches();
  Callbacks callbacks(shown(o.callbacks, o.verbose), &model, {1, 0, steps, o.verbose});
  Ref<StepFunction> step = model.make_step(ModelLayer::StepKind::kPredict);
  model.stop_predicting = false;
  callbacks.tell(Moment::kPredictBegin);
  batches.begin();
  std::vector<std::vector<Tensor>> parts;
  Nested batch, form;
  int64_t done = 0;
  const int64_t at_once = steps_per_execution(model);
  while (more(o.steps, done) && next_batch(batches, batch)) {
    callbacks.tell(Moment::kPredictBatchBegin, done);
    execute(*step, batches, batch, at_once, done, o.steps, [&](Nested made) {
      form = std::move(made);
      std::vector<Tensor> leaves = form.leaves();
      parts.resize(leaves.size());
      for (size_t i = 0; i < leaves.size(); ++i) parts[i].push_back(leaves[i]);
    });
    Logs now;
    now.outputs = &form;
    callbacks.tell(Moment::kPredictBatchEnd, done - 1, now);
    if (model.stop_predicting) break;
  }
  if (done == 0)
    fail(Code::E1104, cat(model.described(), ": there was no batch to predict"),
         "the data ended before the first one");
  if (!model.stop_predicting) tell_of_fewer(line, "predict", "prediction", o.steps, done);
  callbacks.tell(Moment::kPredictEnd);
  std::vector<Tensor> whole;
  for (std::vector<Tensor>& p : parts)
    whole.push_back(p.size() == 1 || p[0].rank() == 0 ? p[0] : concat(p, 0));
  return form.with_leaves(whole);
}

}  // namespace holdfast::keras
