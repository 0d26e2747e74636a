// What is set on Keras' objects is seen by functions that were traced before.
#include "holdfast/keras/watching.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "holdfast/holdfast.h"
#include "holdfast/keras/declare.h"

namespace holdfast::keras {
namespace {

float total(const Tensor& t) { return reduce_sum(t).item<float>(); }

void set(Layer& layer, const std::string& option, const Config& value) {
  set_option(layer, layer.definition(), option, value);
}

const Tensor kX = reshape(Tensor::of({1.f, -2.f, 3.f}), {1, 3});

TEST(WatchingTest, AWeightAndAnOptionThatAreSetAreThoseOfTheNextCall) {
  layers::Dense dense(2, {.kernel_initializer = "ones"});
  auto f = function([&](Tensor x) { return dense(x); }, {.name = "f"});
  EXPECT_EQ(total(f(kX)), 4);
  EXPECT_EQ(total(f(kX)), 4);
  EXPECT_EQ(f.traces(), 1u);  // to build is no change
  dense->kernel = Variable(-2 * ones({3, 2}));
  EXPECT_EQ(total(f(kX)), -8);
  set(*dense.ref(), "activation", "relu");
  EXPECT_EQ(total(f(kX)), 0);
  EXPECT_EQ(f.traces(), 3u);
  std::string report = f.trace_report();
  EXPECT_NE(report.find("2. `kernel` of layer `" + dense->name() + "`: was the Variable"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("3. `activation` of layer"), std::string::npos) << report;
}

TEST(WatchingTest, AWeightThatIsAssignedTakesThePlaceOfTheOneBefore) {
  layers::Dense dense(
      2, {.use_bias = false, .kernel_initializer = "ones", .kernel_regularizer = "l2"});
  dense(kX);
  Variable before = dense->kernel, now(2 * ones({3, 2}));
  dense->kernel = now;
  EXPECT_EQ(dense->variables(), std::vector<Variable>{now});
  EXPECT_EQ(dense->trainable_variables(), std::vector<Variable>{now});
  EXPECT_NEAR(total(dense->losses()[0]), 0.01 * 24, 1e-6);
  EXPECT_EQ(total(before.read()), 6);
  layers::Dense other(2);
  other(kX);
  other->kernel = dense->kernel;  // the variable, not the place
  EXPECT_TRUE(other->variables()[0] == now);
  dense->kernel = Variable();
  EXPECT_TRUE(dense->variables().empty());
}

struct Scale : Layer {
  void build(const Shape& inputs) override {
    scale = add_weight({.name = "scale", .shape = {inputs[-1]}, .initializer = "ones"});
  }
  Tensor call(const Tensor& inputs, const CallOptions&) override { return inputs * scale; }
  HeldWeight scale{*this};
};

TEST(WatchingTest, WeightsOfAProgramsOwnLayerMayBeAssignedToo) {
  Handle<Scale> layer = make<Scale>();
  Sequential model({layer});
  auto f = function([&](Tensor x) { return model(x); });
  EXPECT_EQ(total(f(kX)), 2);
  EXPECT_EQ(total(f(kX)), 2);
  EXPECT_EQ(f.traces(), 1u);
  Variable twice(2 * ones({3}));
  layer->scale = twice;
  EXPECT_EQ(total(f(kX)), 4);
  EXPECT_EQ(model->trainable_variables(), std::vector<Variable>{twice});
}

TEST(WatchingTest, TrainingGoesOnWithAWeightThatWasAssigned) {
  layers::Dense dense(1, {.use_bias = false, .kernel_initializer = "ones"});
  Sequential model({dense});
  model.compile({.optimizer = optimizers::SGD(0.1), .loss = "mse"});
  Tensor x = ones({2, 3}), y = zeros({2, 1});
  model.fit(x, y, {.verbose = 0});
  Variable before = dense->kernel, now(ones({3, 1}));
  float kept = total(before.read());
  dense->kernel = now;
  EXPECT_EQ(total(model.predict(x)), 6);
  model.fit(x, y, {.verbose = 0});
  EXPECT_NE(total(now.read()), 3);
  EXPECT_EQ(total(before.read()), kept);
}

TEST(WatchingTest, WhatIsAsItWasFindsTheTraceThatWasMadeForIt) {
  layers::LeakyReLU leaky({.negative_slope = 0.5});
  auto f = function([&](Tensor x) { return leaky(x); });
  for (double slope : {0.5, 0.25, 0.5, 0.25, 0.5}) {
    set(*leaky.ref(), "negative_slope", slope);
    EXPECT_EQ(total(f(kX)), 4 - 2 * slope);
  }
  EXPECT_EQ(f.traces(), 2u);
}

TEST(WatchingTest, FunctionsInsideAndGradientsSeeIt) {
  layers::LeakyReLU leaky({.negative_slope = 0.5});
  auto inner = function([&](Tensor x) { return leaky(x); });
  auto outer = function([&](Tensor x) { return inner(x) * 2; });
  auto slopes = function([&](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(inner(x), x);
  });
  inner(kX), outer(kX), slopes(kX);
  set(*leaky.ref(), "negative_slope", 0.25);
  EXPECT_EQ(total(outer(kX)), 7);
  EXPECT_EQ(total(slopes(kX)), 2.25);
}

TEST(WatchingTest, AConcreteFunctionGoesOn) {
  layers::LeakyReLU leaky({.negative_slope = 0.5});
  auto f = function([&](Tensor x) { return leaky(x); });
  auto concrete = f.concrete({{DType::kFloat32, {1, 3}}});
  set(*leaky.ref(), "negative_slope", 0.25);
  EXPECT_EQ(total(concrete->call_as_traced(std::vector<Tensor>{kX})[0]), 3);
  EXPECT_EQ(total(f(kX)), 3.5);
}

TEST(WatchingTest, CodeThatChangesItselfIsTracedForItsNextCall) {
  layers::LeakyReLU leaky({.negative_slope = 0.5});
  auto f = function([&](Tensor x) {
    Tensor y = leaky(x);
    set(*leaky.ref(), "negative_slope", 0.25);
    return y;
  });
  EXPECT_EQ(total(f(kX)), 3);
  EXPECT_EQ(total(f(kX)), 3.5);
  EXPECT_EQ(total(f(kX)), 3.5);
  EXPECT_EQ(f.traces(), 2u);
}

TEST(WatchingTest, FrozenLayersAndOptionsOfTheLossHoldForTheNextStep) {
  Sequential model({layers::Dense(1, {.use_bias = false, .kernel_initializer = "ones"})});
  optimizers::SGD sgd(1.0);
  losses::Huber loss({.delta = 1});
  auto step = function([&](Tensor x) {
    GradientTape tape;
    Tensor value = loss(zeros({1, 1}), model(x, {.training = true}));
    std::vector<Variable> weights = model->trainable_variables();
    if (!weights.empty()) sgd->apply_gradients(tape.gradient(value, weights), weights);
    return value;
  });
  EXPECT_EQ(total(step(kX)), 1.5);
  Tensor after = model->variables()[0].read();
  EXPECT_NE(total(after), 3);
  model->set_trainable(false);
  step(kX);
  EXPECT_EQ(total(model->variables()[0].read()), total(after));
  model->set_trainable(true);
  model->set_weights({ones({3, 1})});
  set_option(*loss.ref(), loss.ref()->definition(), "delta", 0.5);
  EXPECT_EQ(total(step(kX)), 0.875);
  EXPECT_EQ(step.traces(), 3u);
}

TEST(WatchingTest, ThreadsThatSetAndCallAgreeInTheEnd) {
  layers::LeakyReLU leaky({.negative_slope = 0.5});
  std::mutex option;  // a plain number: who sets it and who reads it take turns
  auto f = function([&](Tensor x) {
    std::lock_guard lock(option);
    return leaky(x);
  });
  f(kX);
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) {
      std::lock_guard lock(option);
      set(*leaky.ref(), "negative_slope", 0.25 * (1 + i % 2));
    }
  });
  for (int i = 0; i < 200; ++i) {
    float got = total(f(kX));
    EXPECT_TRUE(got == 3.5 || got == 3) << got;
  }
  other.join();
  EXPECT_EQ(total(f(kX)), 3);
}

TEST(WatchingTest, LayersThatAreMadeByTheCodeAreNoReasonToTraceAgain) {
  auto f = function([&](Tensor x) { return layers::LeakyReLU({.negative_slope = 0.5})(x); });
  f(kX);
  for (int i = 0; i < 20; ++i) {
    layers::LeakyReLU another({.negative_slope = 0.1 * i});
    set(*another.ref(), "negative_slope", 0.75);
    EXPECT_EQ(total(f(kX)), 3);
  }
  EXPECT_EQ(f.traces(), 1u);
}

}  // namespace
}  // namespace holdfast::keras
