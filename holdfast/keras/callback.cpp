#include "holdfast/keras/callback.h"

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/model.h"
#include "holdfast/ops/array.h"

namespace holdfast::keras {

ClassDef& Callback::def() {
  static ClassDef& d =
      Declare<Callback>("callbacks.Callback", "Looks on while a model is trained.");
  return d;
}

namespace {
[[maybe_unused]] const ClassDef& declared = Callback::def();
}

CallbackHooks& callback_hooks() {
  static auto* hooks = new CallbackHooks{};
  return *hooks;
}

namespace {

bool same_type(const std::vector<Tensor>& all) {
  return std::all_of(all.begin(), all.end(), [&](const Tensor& t) {
    return t.dtype() == all[0].dtype() && t.shape() == all[0].shape();
  });
}

void add(Logs& to, const std::string& name, const Nested& value) {
  if (value.is_dict()) {  // each number by its own name
    for (const Nested::Entry& e : value.entries()) add(to, e.first, e.second);
    return;
  }
  std::vector<Tensor> leaves = value.leaves();
  if (leaves.empty() || !same_type(leaves)) return;
  Tensor t = leaves.size() == 1 ? leaves[0] : stack(leaves);
  if (t.size() == 1)
    to.set(name, t.to_double());
  else if (is_floating(t.dtype()) || is_integer(t.dtype()) || t.dtype() == boolean)
    to.set(name, t);
}

}  // namespace

Logs Logs::of(const Nested& results) {
  Logs out;
  if (results.is_dict())
    for (const auto& [name, value] : results.entries()) add(out, name, value);
  else if (std::vector<Tensor> leaves = results.leaves(); leaves.size() == 1)
    if (leaves[0].size() == 1) add(out, "loss", leaves[0]);
  return out;
}

Logs Logs::sorted() const {
  Logs out;
  out.entries_ = entries_;
  out.arrays_ = arrays_;
  std::sort(out.entries_.begin(), out.entries_.end());
  std::sort(out.arrays_.begin(), out.arrays_.end(),
            [](const Array& a, const Array& b) { return a.name < b.name; });
  for (Array& a : out.arrays_)
    a.before = static_cast<size_t>(std::count_if(out.entries_.begin(), out.entries_.end(),
                                                 [&](const Entry& e) { return e.first < a.name; }));
  return out;
}

void Logs::set(const std::string& name, const Tensor& values) {
  for (Array& a : arrays_)
    if (a.name == name) {
      a.values = values;
      return;
    }
  arrays_.push_back({name, values, entries_.size()});
}

void Logs::set(const std::string& name, double value) {
  for (Entry& e : entries_)
    if (e.first == name) {
      e.second = value;
      return;
    }
  entries_.emplace_back(name, value);
}

double Logs::operator[](std::string_view name) const {
  if (const double* found = find(name)) return *found;
  std::vector<std::string> known;
  for (const auto& [key, value] : entries_) known.push_back(key);
  unknown_identifier("a number of the logs", std::string(name), known);
}
const double* Logs::find(std::string_view name) const {
  for (const Entry& e : entries_)
    if (e.first == name) return &e.second;
  return nullptr;
}

void Callback::tell(Moment moment, int64_t i, Logs& logs) {
  switch (moment) {
    case Moment::kTrainBegin: return on_train_begin(logs);
    case Moment::kTrainEnd: return on_train_end(logs);
    case Moment::kEpochBegin: return on_epoch_begin(i, logs);
    case Moment::kEpochEnd: return on_epoch_end(i, logs);
    case Moment::kTrainBatchBegin: return on_train_batch_begin(i, logs);
    case Moment::kTrainBatchEnd: return on_train_batch_end(i, logs);
    case Moment::kTestBegin: return on_test_begin(logs);
    case Moment::kTestEnd: return on_test_end(logs);
    case Moment::kTestBatchBegin: return on_test_batch_begin(i, logs);
    case Moment::kTestBatchEnd: return on_test_batch_end(i, logs);
    case Moment::kPredictBegin: return on_predict_begin(logs);
    case Moment::kPredictEnd: return on_predict_end(logs);
    case Moment::kPredictBatchBegin: return on_predict_batch_begin(i, logs);
    case Moment::kPredictBatchEnd: return on_predict_batch_end(i, logs);
  }
}

// A class of C++'s own can't be asked which methods it overrides: it is told all, but those that
// say otherwise.
bool Callback::wants(Moment) const {
  return &definition() == &def() ? typeid(*this) != typeid(ForeignCallback<Callback>) : true;
}

ModelLayer* Callback::model() const {
  if (!model_)
    fail(Code::E1104, cat(text(), " has no model: it is given one while that is trained"));
  return model_;
}

void Callback::begin(ModelLayer* model, const TrainingPlan& plan) {
  model_ = model;
  plan_ = plan;
}

Callbacks::Callbacks(std::vector<Ref<Callback>> list, ModelLayer* model, const TrainingPlan& plan)
    : list_(std::move(list)) {
  for (const Ref<Callback>& c : list_)
    if (!c) fail(Code::E1104, "`callbacks` has one that refers to nothing");
  for (const Ref<Callback>& c : list_) {
    c->begin(model, plan);
    for (size_t i = 0; i < kMoments; ++i)
      wanted_[i] = wanted_[i] || c->wants(static_cast<Moment>(i));
  }
}

// A callback outlives the training, and the model may not.
Callbacks::~Callbacks() {
  for (const Ref<Callback>& c : list_) c->Callback::begin(nullptr, {});
}

bool Callbacks::reads_logs(Moment moment) const {
  for (const Ref<Callback>& c : list_)
    if (c->wants(moment) && c->reads_logs(moment)) return true;
  return false;
}

void Callbacks::tell(Moment moment, int64_t index, Logs& logs) {
  if (!wanted(moment)) return;
  for (const Ref<Callback>& c : list_)
    if (c->wants(moment)) c->tell(moment, index, logs);
}

}  // namespace holdfast::keras
