#include "holdfast/autodiff/forward.h"

#include <gtest/gtest.h>

#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

using Floats = std::vector<float>;

TEST(Forward, TellsHowResultsChangeAlongADirection) {
  Tensor x = Tensor::of({1.f, 2.f}), v = Tensor::of({1.f, 0.5f});
  ForwardAccumulator forward({x}, {v});
  Tensor y = x * x * x, s = reduce_sum(y * x);
  EXPECT_EQ(forward.jvp(y).to_vector<float>(), (Floats{3, 6}));
  EXPECT_FLOAT_EQ(forward.jvp(s).item<float>(), 4 + 0.5f * 32);
  EXPECT_EQ(forward.jvp(x).to_vector<float>(), (Floats{1, 0.5f}));
  EXPECT_EQ(forward.jvp(std::vector<Tensor>{y, s}).size(), 2u);
}

TEST(Forward, FollowsVariablesThroughFunctions) {
  Variable w(constant({{1.0, 2.0}, {3.0, 4.0}}));
  auto f = function([&](Tensor x) { return tanh(matmul(x, w)); });
  Tensor x = constant({{0.1, 0.2}}), along = ones({2, 2});
  ForwardAccumulator forward({w}, {along});
  Tensor y = f(x);
  forward.stop();
  Tensor slope = forward.jvp(y);
  Tensor expected = (1 - square(y)) * matmul(x, along);
  for (size_t i : {0, 1})
    EXPECT_NEAR(slope.to_vector<float>()[i], expected.to_vector<float>()[i], 1e-6);
}

TEST(Forward, NestsForSecondDerivatives) {
  Tensor x = Tensor::scalar(2.f), one = Tensor::scalar(1.f);
  ForwardAccumulator outer({x}, {one}), inner({x}, {one});
  Tensor first = inner.jvp(x * x * x);
  EXPECT_FLOAT_EQ(first.item<float>(), 12);
  EXPECT_FLOAT_EQ(outer.jvp(first).item<float>(), 12);
}

TEST(Forward, WhatDoesNotDependHasNoTangent) {
  Tensor x = Tensor::scalar(2.f), other = Tensor::of({1.f, 2.f});
  ForwardAccumulator forward({x}, {x});
  EXPECT_FALSE(forward.jvp(other * 2).defined());
  EXPECT_EQ(forward.jvp(other * 2, Unconnected::kZero).to_vector<float>(), (Floats{0, 0}));
}

TEST(Forward, RefusesTangentsThatDoNotFit) {
  Tensor x = Tensor::scalar(2.f);
  for (const std::vector<Tensor>& bad :
       {std::vector<Tensor>{}, {Tensor::of({1.f, 2.f})}, {Tensor::scalar(1)}, {Tensor()}}) {
    try {
      ForwardAccumulator forward({x}, bad);
      ADD_FAILURE() << "no error came";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("forward_test.cpp"), std::string::npos) << e.what();
    }
  }
}

TEST(Jacobian, OfEachElementOnAnyTape) {
  Tensor x = Tensor::of({1.f, 2.f, 3.f}), lone = Tensor::scalar(1.f);
  GradientTape tape;
  tape.watch(x);
  tape.watch(lone);
  Tensor y = reshape(x * x, {3, 1});
  auto j = tape.jacobian(y, {x, lone});
  EXPECT_EQ(j[0].shape(), (Shape{3, 1, 3}));
  EXPECT_EQ(j[0].to_vector<float>(), (Floats{2, 0, 0, 0, 4, 0, 0, 0, 6}));
  EXPECT_FALSE(j[1].defined());
  try {
    tape.jacobian(y, {x});
    FAIL() << "no error came";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::E0504);
  }
}

TEST(Jacobian, OfEachExample) {
  Tensor x = constant({{1.0, 2.0}, {3.0, 4.0}});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * x;
  Tensor j = tape.batch_jacobian(y, x);
  EXPECT_EQ(j.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(j.to_vector<float>(), (Floats{2, 0, 0, 4, 6, 0, 0, 8}));
  EXPECT_THROW(tape.batch_jacobian(y, Tensor::of({1.f})), Error);
}

TEST(Jacobian, OfNoElementsHasNoRows) {
  Tensor x = constant({1.0, 2.0});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor none = zeros({0, 2}) * x;
  EXPECT_EQ(tape.jacobian(none, {x})[0].shape(), (Shape{0, 2, 2}));
  EXPECT_FALSE(tape.jacobian(zeros({0}), {x})[0].defined());  // nothing connects the two
}

}  // namespace
}  // namespace holdfast
