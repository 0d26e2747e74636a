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
