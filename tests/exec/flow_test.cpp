// Branches and loops whose code takes and returns tensors, pairs, structs.
#include <gtest/gtest.h>

#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

float number(const Tensor& t) { return t.item<float>(); }
Tensor one(float v) { return Tensor::scalar(v); }

struct Both {
  Tensor first, second;
};

TEST(Flow, ABranchReturnsATensor) {
  auto size = [](Tensor x) { return cond(x > 0, [&] { return x; }, [&] { return -x; }); };
  EXPECT_EQ(number(size(one(-3))), 3);
  auto f = function(size);
  EXPECT_EQ(number(f(one(-3))), 3);
  EXPECT_EQ(number(f(one(4))), 4);
  EXPECT_EQ(f.traces(), 1u);
}

TEST(Flow, ABranchReturnsAStructOrNothing) {
  Variable v(one(0));
  auto f = function([&](Tensor x) {
    Both b = cond(x > 0, [&] { return Both{x, x * 2}; }, [&] { return Both{-x, x * 3}; });
    cond(x > 0, [&] { v.assign_add(x); }, [] {});
    return b.first + b.second;
  });
  EXPECT_EQ(number(f(one(2))), 6);
  EXPECT_EQ(number(f(one(-2))), -4);
  EXPECT_EQ(number(f(one(3))), 9);
  EXPECT_EQ(number(v.read()), 5);
}

TEST(Flow, BranchesThatReturnListsAreAsBefore) {
  Tensors out = cond(
      one(1) > 0, [] { return Tensors{one(1), one(2)}; }, [] { return Tensors{one(3), one(4)}; });
  EXPECT_EQ(number(out[1]), 2);
}

TEST(Flow, ALoopTakesItsVariablesOneByOne) {
  auto triangle = [](Tensor n) {
    auto [last, sum] =
        while_loop([&](Tensor i, Tensor) { return i < n; },
                   [](Tensor i, Tensor s) { return std::pair(i + 1, s + i); }, {0.f, 0.f});
    return sum;
  };
  EXPECT_EQ(number(triangle(one(5))), 10);
  EXPECT_EQ(number(triangle(one(0))), 0);
  auto f = function(triangle);
  EXPECT_EQ(number(f(one(5))), 10);
  EXPECT_EQ(number(f(one(10))), 45);
  EXPECT_EQ(number(f(one(-1))), 0);
}

TEST(Flow, ALoopOfOneVariableOfGenericCodeAndOfStructs) {
  EXPECT_EQ(number(while_loop([](Tensor x) { return x < 100; }, [](Tensor x) { return x * 3; },
                              {one(2)})),
            162);
  auto [a, b] = while_loop([](auto x, auto y) { return x < y; },
                           [](auto x, auto y) { return std::array{x * 2, y}; }, {one(1), one(9)});
  EXPECT_EQ(number(a) + number(b), 25);
  Both both = while_loop([](Tensor x, Tensor) { return x < 3; },
                         [](Tensor x, Tensor y) { return Both{x + 1, y * 2}; }, {one(0), one(1)},
                         {.maximum_iterations = 2});
  EXPECT_EQ(number(both.first), 2);
  EXPECT_EQ(number(both.second), 4);
  auto never =
      while_loop([](Tensor x, Tensor) { return x < 0; },
                 [](Tensor x, Tensor y) { return std::vector{x + 1, y}; }, {one(0), one(1)});
  EXPECT_EQ(number(never[1]), 1);
}

TEST(Flow, GradientsGoThrough) {
  Variable x(one(2));
  GradientTape tape;
  auto [y, n] =
      while_loop([](Tensor, Tensor i) { return i < 3; },
                 [&](Tensor p, Tensor i) { return std::tuple(p * x, i + 1); }, {one(1), one(0)});
  EXPECT_EQ(number(tape.gradient(y, x)), 12);
}

TEST(Flow, AnotherNumberOfVariablesIsRefused) {
  EXPECT_THROW(
      while_loop([](Tensor x) { return x < 3; }, [](Tensor x) { return x + 1; }, {one(1), one(2)}),
      Error);
}

}  // namespace
}  // namespace holdfast
