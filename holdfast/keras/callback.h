// What looks on while a model is trained, and may stop it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "holdfast/base/concepts.h"
#include "holdfast/keras/declare.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast {
class Nested;
}

namespace holdfast::keras {

class BatchSource;
class ModelLayer;

/// Numbers by name, in the order in which they are shown: "loss", "accuracy", "val_loss".
class HOLDFAST_API Logs {
 public:
  using Entry = std::pair<std::string, double>;
  /// What a metric of several numbers says, as one of each class does.
  struct Array {
    std::string name;
    Tensor values;
    size_t before;  // how many of the entries stand before it
  };
  Logs() = default;
  Logs(std::initializer_list<Entry> entries) : entries_(entries) {}
  /// What a step gives: a dict of metrics by name, or a loss alone.
  static Logs of(const Nested& results);
  void set(const std::string& name, double value);
  void set(const std::string& name, const Tensor& values);
  /// Null where there is none of that name.
  const double* find(std::string_view name) const;
  /// The number of a name; refused where there is none.
  double operator[](std::string_view name) const;
  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<Array>& arrays() const { return arrays_; }
  /// Calls `f(name, number or tensor)` for entries and arrays, as they stand.
  template <class F>
  void each(F&& f) const {
    size_t at = 0;
    auto arrays_before = [&](size_t i) {
      for (; at < arrays_.size() && arrays_[at].before <= i; ++at)
        f(arrays_[at].name, arrays_[at].values);
    };
    for (size_t i = 0; i < entries_.size(); ++i) {
      arrays_before(i);
      f(entries_[i].first, entries_[i].second);
    }
    arrays_before(entries_.size());
  }
  /// By name.
  Logs sorted() const;
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  /// At the end of a batch of `predict`: what the model gave for it.
  const Nested* outputs = nullptr;

 private:
  std::vector<Entry> entries_;
  std::vector<Array> arrays_;
};

/// When a callback is told. `index` is an epoch's or a batch's number.
enum class Moment : uint8_t {
  kTrainBegin,
  kTrainEnd,
  kEpochBegin,
  kEpochEnd,
  kTrainBatchBegin,
  kTrainBatchEnd,
  kTestBegin,
  kTestEnd,
  kTestBatchBegin,
  kTestBatchEnd,
  kPredictBegin,
  kPredictEnd,
  kPredictBatchBegin,
  kPredictBatchEnd,
};
inline constexpr size_t kMoments = 14;
inline bool is_batch(Moment m) {
  return m == Moment::kTrainBatchBegin || m == Moment::kTrainBatchEnd ||
         m == Moment::kTestBatchBegin || m == Moment::kTestBatchEnd ||
         m == Moment::kPredictBatchBegin || m == Moment::kPredictBatchEnd;
}

/// What is known of the training before it begins.
struct TrainingPlan {
  int64_t epochs = 1;
  int64_t initial_epoch = 0;
  int64_t steps = -1;  // of an epoch; -1: not known
  int64_t verbose = 1;
  const BatchSource* batches = nullptr;  // what `fit` reads; null in other loops
};

/// Base of callbacks. A program derives from it and overrides what it wants to be told:
///
///   struct Stop : keras::Callback {
///     void on_epoch_end(int64_t epoch, Logs& logs) override {
///       if (*logs.find("loss") < 0.1) model()->stop_training = true;
///     }
///   };
class HOLDFAST_API Callback : public Object, public Declared {
 public:
  static constexpr const char* kFolder = "callbacks";
  static ClassDef& def();
  const ClassDef& definition() const override { return def(); }
  const ObjectClass& object_class() const override { return definition().kind; }
  void* option_place() override { return nullptr; }
  std::string text() const override { return "the callback " + definition().name; }

  virtual void on_train_begin(Logs&) {}
  virtual void on_train_end(Logs&) {}
  virtual void on_epoch_begin(int64_t /*epoch*/, Logs&) {}
  virtual void on_epoch_end(int64_t /*epoch*/, Logs&) {}
  virtual void on_train_batch_begin(int64_t /*batch*/, Logs&) {}
  virtual void on_train_batch_end(int64_t /*batch*/, Logs&) {}
  virtual void on_test_begin(Logs&) {}
  virtual void on_test_end(Logs&) {}
  virtual void on_test_batch_begin(int64_t /*batch*/, Logs&) {}
  virtual void on_test_batch_end(int64_t /*batch*/, Logs&) {}
  virtual void on_predict_begin(Logs&) {}
  virtual void on_predict_end(Logs&) {}
  virtual void on_predict_batch_begin(int64_t /*batch*/, Logs&) {}
  virtual void on_predict_batch_end(int64_t /*batch*/, Logs&) {}

  /// Calls the method for a moment.
  virtual void tell(Moment moment, int64_t index, Logs& logs);
  /// Whether it has anything to do at a moment: what nobody wants costs nothing.
  virtual bool wants(Moment moment) const;
  /// Whether it looks at the numbers of a moment that it wants. Those of a batch have to be waited
  /// for, so they are read where somebody does.
  virtual bool reads_logs(Moment) const { return true; }

  /// The model that is trained; refused before and after.
  ModelLayer* model() const;
  bool has_model() const { return model_ != nullptr; }
  const TrainingPlan& plan() const { return plan_; }
  virtual void begin(ModelLayer* model, const TrainingPlan& plan);

 private:
  ModelLayer* model_ = nullptr;
  TrainingPlan plan_;
};

using CallbackOption = Choice<Callback>;

/// All callbacks of one training, told in their order.
class HOLDFAST_API Callbacks {
 public:
  Callbacks(std::vector<Ref<Callback>> list, ModelLayer* model, const TrainingPlan& plan);
  ~Callbacks();
  bool wanted(Moment moment) const { return wanted_[static_cast<size_t>(moment)]; }
  /// Whether anybody who is told a moment reads its numbers.
  bool reads_logs(Moment moment) const;
  void tell(Moment moment, int64_t index, Logs& logs);
  void tell(Moment moment, int64_t index = 0) {
    Logs none;
    tell(moment, index, none);
  }

 private:
  std::vector<Ref<Callback>> list_;
  bool wanted_[kMoments] = {};
};

/// How another language's callbacks are told. Gives false where the class has no such method.
struct CallbackHooks {
  bool (*tell)(Callback&, Moment, int64_t index, Logs&);
  bool (*wants)(const Callback&, Moment, bool& out);
  void (*begin)(Callback&, ModelLayer*, const TrainingPlan&);
};
HOLDFAST_API CallbackHooks& callback_hooks();

/// C++'s own part of a callback whose class may have another.
class HOLDFAST_API ForeignCallbackBorn {
 public:
  virtual ~ForeignCallbackBorn() = default;
  virtual void own_tell(Moment m, int64_t index, Logs& logs) = 0;
};

template <class C>
class ForeignCallback final : public C, public ForeignCallbackBorn {
 public:
  void own_tell(Moment m, int64_t index, Logs& logs) override { C::tell(m, index, logs); }
  void tell(Moment m, int64_t index, Logs& logs) override {
    if (!callback_hooks().tell(*this, m, index, logs)) C::tell(m, index, logs);
  }
  bool wants(Moment m) const override {
    bool out = false;
    return (callback_hooks().wants(*this, m, out) && out) || C::wants(m);
  }
  bool reads_logs(Moment m) const override {
    bool out = false;
    return (callback_hooks().wants(*this, m, out) && out) || C::reads_logs(m);
  }
  void begin(ModelLayer* model, const TrainingPlan& plan) override {
    C::begin(model, plan);
    callback_hooks().begin(*this, model, plan);
  }
};

namespace detail {
template <DerivesFrom<Callback> C>
struct ForeignOf<C> {
  using type = ForeignCallback<C>;
};
}  // namespace detail

}  // namespace holdfast::keras
