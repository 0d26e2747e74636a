#include "holdfast/autodiff/tape.h"

#include <gtest/gtest.h>

#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

float element(const Tensor& t, size_t i) { return t.to_vector<float>()[i]; }

TEST(Tape, FollowsTrainableVariablesOnItsOwnAndNothingElse) {
  Variable w(3.0f), frozen(3.0f, {.trainable = false});
  Tensor x = Tensor::scalar(3.0f);
  GradientTape tape({.persistent = true});
  Tensor y = w * frozen * x;
  EXPECT_FLOAT_EQ(tape.gradient(y, w).item<float>(), 9);
  EXPECT_FALSE(tape.gradient(y, frozen).defined());
  EXPECT_FALSE(tape.gradient(y, x).defined());
  ASSERT_EQ(tape.watched_variables().size(), 1u);
  EXPECT_EQ(tape.watched_variables()[0], w);
}

TEST(Tape, WatchedVariablesComeInTheOrderInWhichTheyWereMade) {
  Variable a(1.0f), b(2.0f), c(3.0f);
  GradientTape tape;
  Tensor y = c * b + a * c;
  EXPECT_EQ(tape.watched_variables(), (std::vector<Variable>{a, b, c}));
}

TEST(Tape, GivesHigherOrdersWhenNested) {
  Tensor x = Tensor::scalar(2.0f);
  GradientTape outer;
  outer.watch(x);
  Tensor slope;
  {
    GradientTape inner;
    inner.watch(x);
    slope = inner.gradient(x * x * x, x);
  }
  EXPECT_FLOAT_EQ(slope.item<float>(), 12);
  EXPECT_FLOAT_EQ(outer.gradient(slope, x).item<float>(), 12);
}

TEST(Tape, RefusesASecondGradientUnlessItIsPersistent) {
  Variable w(3.0f);
  GradientTape tape;
  Tensor y = w * w;
  tape.gradient(y, w);
  try {
    tape.gradient(y, w);
    FAIL() << "no error came";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::E0504);
    EXPECT_NE(std::string(e.what()).find("persistent"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("tape_test.cpp"), std::string::npos);
  }
}

TEST(Tape, SavedValuesAreCopyOnWrite) {
  Variable w(3.0f);
  GradientTape tape;
  Tensor y = w * w;
  w.assign(100.0f);
  EXPECT_FLOAT_EQ(tape.gradient(y, w).item<float>(), 6);
}

TEST(Tape, DropsWhatNoGradientLooksAt) {
  Tensor x = zeros({1 << 20});
  GradientTape tape;
  tape.watch(x);
  int64_t before = cpu()->memory().live;
  Tensor y = x;
  for (int i = 0; i < 20; ++i) y = y + 1.0f;  // a sum's gradient needs no operand
  EXPECT_LE(cpu()->memory().live - before, 2 * (4 << 20));
}

TEST(Tape, GatherOfAVariableGivesSlices) {
  Variable table(zeros({10, 4}));
  GradientTape tape;
  Tensor loss = reduce_sum(gather(table, Tensor::of({3, 3, 7})));
  auto g = tape.gradients({loss}, {table});
  ASSERT_TRUE(g[0].slices.has_value());
  EXPECT_EQ(g[0].slices->values.shape(), (Shape{3, 4}));
  EXPECT_FLOAT_EQ(element(g[0].tensor(), 12), 2);
  EXPECT_FLOAT_EQ(element(g[0].tensor(), 28), 1);
}

TEST(Tape, ExplainsWhyThereIsNoGradient) {
  Tensor x = Tensor::of({1.0f, 2.0f}), other = Tensor::scalar(1.0f), whole = Tensor::of({1, 2});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(other);
  Tensor cut = cast(argmax(x), float32) * 2.0f, y = reduce_sum(x);
  EXPECT_NE(tape.explain(cut, x).headline.find("ArgMax"), std::string::npos);
  EXPECT_NE(tape.explain(y, other).headline.find("no path"), std::string::npos);
  EXPECT_NE(tape.explain(y, whole).headline.find("int32"), std::string::npos);
  EXPECT_NE(tape.explain(y, Tensor::scalar(2.0f)).headline.find("is not watched"),
            std::string::npos);
}

TEST(Tape, UnconnectedSourcesCanBeZero) {
  Tensor x = Tensor::of({1.0f, 2.0f}), y = Tensor::scalar(3.0f);
  GradientTape tape;
  tape.watch(x);
  tape.watch(y);
  auto g = tape.gradients({y * y}, {x}, {}, Unconnected::kZero);
  EXPECT_EQ(g[0].dense.to_vector<float>(), (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace holdfast
