// Steps of optimizers from C++: dense, by rows, several threads over the same variables.
#include "holdfast/ops/training.h"

#include <gtest/gtest.h>

#include <thread>

#include "holdfast/base/diagnostic.h"
#include "holdfast/ops/constant.h"

namespace holdfast {
namespace {

std::vector<float> values(const Variable& v) { return v.read().to_vector<float>(); }

TEST(Training, AStepMovesTheVariableAndWhatIsKept) {
  Variable v(constant({1.0f, 2.0f})), m(constant({0.5f, 0.0f}));
  train::apply_momentum(v, m, 0.5, constant({1.0f, -1.0f}), 0.5);
  EXPECT_EQ(values(m), (std::vector<float>{1.25f, -1.0f}));
  EXPECT_EQ(values(v), (std::vector<float>{0.375f, 2.5f}));
}

TEST(Training, ARowThatIsNamedTwiceMovesTwice) {
  Variable v(constant({{1.0f}, {2.0f}, {3.0f}}));
  train::apply_proximal_gradient_descent(
      v, 0.5, 0.0, 0.0, IndexedSlices{constant({{1.0f}, {1.0f}}), constant({2, 2}), Tensor()});
  EXPECT_EQ(values(v), (std::vector<float>{1, 2, 2}));
}

// Vectors and the elements behind them round alike.
TEST(Training, AnElementMovesByTheSameBitsWhereverItStands) {
  std::vector<float> start(1003), slope(1003);
  for (size_t i = 0; i < start.size(); ++i) {
    start[i] = 0.37f * static_cast<float>(i % 17) - 2;
    slope[i] = 0.011f * static_cast<float>(i % 29) - 0.1f;
  }
  Variable v(constant(start)), m(constant(slope)), s(constant(std::vector<float>(1003, 0.3f)));
  train::apply_adam(v, m, s, 0.9, 0.999, 0.01, 0.9, 0.999, 1e-7, constant(slope));
  for (size_t i : {size_t{0}, size_t{5}, size_t{31}, size_t{998}, size_t{1002}}) {
    Variable one(constant({start[i]})), mean(constant({slope[i]})), square(constant({0.3f}));
    train::apply_adam(one, mean, square, 0.9, 0.999, 0.01, 0.9, 0.999, 1e-7, constant({slope[i]}));
    EXPECT_EQ(values(v)[i], values(one)[0]);
    EXPECT_EQ(values(s)[i], values(square)[0]);
  }
}

TEST(Training, AReaderKeepsTheValueItRead) {
  Variable v(constant({1.0f}));
  Tensor before = v.read();
  train::apply_gradient_descent(v, 1.0, constant({1.0f}));
  EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{1}));
  EXPECT_EQ(values(v), (std::vector<float>{0}));
}

TEST(Training, StepsOverTheSameVariablesInAnyOrderNeverWaitForEachOther) {
  Variable a(constant({0.0f})), b(constant({0.0f}));
  auto work = [](const Variable& v, const Variable& m) {
    for (int i = 0; i < 2000; ++i) train::apply_momentum(v, m, 0.0, constant({0.0f}), 1.0);
  };
  std::thread one(work, a, b), two(work, b, a);
  one.join();
  two.join();
  EXPECT_EQ(values(a), (std::vector<float>{0}));
}

TEST(Training, OneVariableInTwoPlacesIsRefused) {
  Variable a(constant({0.0f}));
  EXPECT_THROW(train::apply_momentum(a, a, 0.1, constant({1.0f}), 0.9), Error);
}

}  // namespace
}  // namespace holdfast
