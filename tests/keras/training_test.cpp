#include "holdfast/keras/training.h"

#include <gtest/gtest.h>

#include <cmath>

#include "holdfast/holdfast.h"
#include "tests/refused.h"

namespace holdfast::keras {
namespace {

struct Data {
  Tensor x = random::normal({64, 3}, {.seed = 7});
  Tensor y = reduce_sum(x, {.axis = {1}, .keepdims = true});
};

Sequential regression() {
  Sequential model(
      {layers::Dense({.units = 8, .activation = "tanh"}), layers::Dense({.units = 1})});
  model->compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  return model;
}

TEST(TrainingTest, FitLearnsAndGivesTheNumbersOfEachEpoch) {
  Data d;
  Sequential model = regression();
  History h = fit(*model, d.x, d.y,
                  {.batch_size = 8, .epochs = 20, .verbose = 0, .validation_split = 0.25});
  EXPECT_EQ(h.epoch.size(), 20u);
  EXPECT_LT(h["loss"].back(), h["loss"].front());
  EXPECT_EQ(h["val_mae"].size(), 20u);
  Logs logs = evaluate(*model, d.x, d.y, {.verbose = 0});
  ASSERT_NE(logs.find("loss"), nullptr);
  EXPECT_EQ(predict(*model, d.x, {.verbose = 0}).tensor().shape(), (Shape{64, 1}));
  EXPECT_EQ(model->variables().size(), 4u);  // none of the optimizer's, none of the metrics'
}

struct StopAt : Callback {
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    seen.push_back(*logs.find("loss"));
    model()->stop_training = epoch == 1;
  }
  std::vector<double> seen;
};

TEST(TrainingTest, ACallbackOfAProgramIsToldAndMayStop) {
  Data d;
  Sequential model = regression();
  auto stop = make_ref<StopAt>();
  History h = fit(*model, d.x, d.y, {.epochs = 9, .verbose = 0, .callbacks = {stop}});
  EXPECT_EQ(h.epoch.size(), 2u);
  EXPECT_EQ(stop->seen.size(), 2u);
}

struct Steps : Metric {
  explicit Steps(const char* name) { configure({.name = name}); }
  void update_state(const Tensor&, const Tensor&, const Tensor&) override { count.assign_add(1); }
  Nested result() override { return count.read(); }
  Variable count = add_variable({}, "zeros", "count");
};

struct Counting : ModelLayer {
  std::vector<Ref<Metric>> metrics() const override { return {told}; }
  Tensor call(const Tensor& x, const CallOptions&) override { return dense(x); }
  Tensor compute_loss(const Nested& x, const Nested& y, const Nested& y_pred,
                      const Nested& weight) override {
    told->update_state({}, {}, {});
    kept->update_state({}, {}, {});
    return ModelLayer::compute_loss(x, y, y_pred, weight);
  }
  layers::Dense dense{1};
  Ref<Steps> told = make_ref<Steps>("told"), kept = make_ref<Steps>("kept");
};

TEST(TrainingTest, AClassSaysWhichMetricsBeginAnewAndAreToldOf) {
  Data d;
  auto model = make<Counting>();
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  History h = model.fit(d.x, d.y, {.batch_size = 16, .epochs = 3, .verbose = 0});
  ASSERT_EQ(h.history.size(), 1u);
  EXPECT_EQ(h["told"], std::vector<double>({4, 4, 4}));
  EXPECT_EQ(model->kept->result().tensor().to_double(), 12);
}

TEST(TrainingTest, DataWithoutABatchTrainsNothing) {
  Data d;
  Sequential model = regression();
  auto none = data::Dataset::from_tensor_slices({d.x, d.y}).batch(8).take(0);
  History h = model.fit(none, {.epochs = 3, .verbose = 0});
  EXPECT_TRUE(h.epoch.empty() && h.history.empty());
  EXPECT_TRUE(model.evaluate(none, {.verbose = 0}).empty());
  EXPECT_EQ(refused([&] { model.predict(none, {.verbose = 0}); }), Code::E1104);
}

TEST(TrainingTest, AFunctionalModelTrains) {
  Data d;
  Tensor input = Input({.shape = {3}, .name = "x"});
  Tensor hidden = layers::Dense({.units = 4, .activation = "relu"})(input);
  auto model = make_ref<FunctionalLayer>();
  model->set_graph(input, layers::Dense({.units = 1})(hidden) + 1);
  model->compile({.optimizer = "sgd", .loss = "mse"});
  History h = fit(*model, d.x, d.y, {.epochs = 5, .verbose = 0});
  EXPECT_LT(h["loss"].back(), h["loss"].front());
}

TEST(TrainingTest, CrossentropyIsTheOneThatShapesTell) {
  Sequential model({layers::Dense({.units = 4, .kernel_initializer = "zeros"}),
                    layers::Activation({.activation = "softmax"})});
  model->compile({.loss = "crossentropy"});
  Tensor x = ones({2, 3});
  for (const Tensor& y : {constant({0, 3}), one_hot(constant({0, 3}), 4)})
    EXPECT_NEAR(*evaluate(*model, x, y, {.verbose = 0}).find("loss"), std::log(4.0), 1e-5);
}

TEST(TrainingTest, ALossByItsNameIsToldByThatName) {
  EXPECT_EQ(LossItem("mse")->name(), "mse");
  EXPECT_EQ(LossItem("MeanSquaredError")->name(), "mean_squared_error");
  EXPECT_EQ(LossItem(losses::MeanSquaredError({.name = "own"}))->name(), "own");
}

TEST(TrainingTest, BadUsesAreTold) {
  Data d;
  Sequential bare({layers::Dense({.units = 1})});
  EXPECT_EQ(refused([&] { fit(*bare, d.x, d.y, {}); }), Code::E1104);
  Sequential model = regression();
  EXPECT_EQ(refused([&] { fit(*model, d.x, d.y, {.batch_size = 0, .verbose = 0}); }), Code::E1103);
  EXPECT_EQ(refused([&] { model->compile({.optimizer = "adamm"}); }), Code::E1203);
  History none;
  EXPECT_EQ(refused([&] { none["loss"]; }), Code::E1203);
}

}  // namespace
}  // namespace holdfast::keras
