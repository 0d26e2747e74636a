// Code that is written for one row, over all rows.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include "tests/refused.h"

namespace holdfast {
namespace {

std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

TEST(VectorizedMap, RunsTheCodeOnceForAllRows) {
  int runs = 0;
  Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  Tensor y = vectorized_map(
      [&](Tensor row) {
        ++runs;
        return reduce_sum(row * row);
      },
      x);
  EXPECT_EQ(floats(y), (std::vector<float>{5, 25, 61}));
  EXPECT_EQ(runs, 1);
}

TEST(VectorizedMap, TakesAndGivesSeveral) {
  struct Rows {
    Tensor x, y;
  };
  Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}}), y = constant({10.f, 20.f});
  auto [products, sums] = vectorized_map(
      [](const Rows& row) { return std::pair(row.x * row.y, reduce_sum(row.x) + row.y); },
      Rows{x, y});
  EXPECT_EQ(floats(products), (std::vector<float>{10, 20, 60, 80}));
  EXPECT_EQ(floats(sums), (std::vector<float>{13, 27}));

  // One row stands for any number of them.
  Tensor repeated =
      vectorized_map([](const std::pair<Tensor, Tensor>& row) { return row.first + row.second; },
                     std::pair(x, constant({{100.f, 200.f}})));
  EXPECT_EQ(floats(repeated), (std::vector<float>{101, 202, 103, 204}));
}

TEST(VectorizedMap, HasGradientsAlsoOfWhatIsCaptured) {
  Variable w(constant(3.f));
  Tensor offset = constant(1.f), x = constant({1.f, 2.f});
  auto mapped = [&](Tensor t) {
    return reduce_sum(vectorized_map([&](Tensor row) { return row * w + offset * offset; }, t));
  };
  auto traced = function(mapped);
  for (bool in_graph : {false, true}) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = in_graph ? traced(x) : mapped(x);
    auto [dx, dw] = tape.gradient(y, x, w);
    EXPECT_EQ(floats(dx), (std::vector<float>{3, 3})) << in_graph;
    EXPECT_EQ(floats(dw), (std::vector<float>{3})) << in_graph;
  }
  GradientTape tape;
  tape.watch(offset);
  Tensor y = mapped(x);
  EXPECT_EQ(floats(tape.gradient(y, offset)), (std::vector<float>{4}));
}

TEST(VectorizedMap, OfOpenSizesAndOfNoRows) {
  auto f = function(
      [](Tensor a, Tensor b) {
        return vectorized_map(
            [](const std::pair<Tensor, Tensor>& row) { return row.first * row.second; },
            std::pair(a, b));
      },
      {.reduce_retracing = true});
  for (int n = 1; n < 5; ++n) EXPECT_EQ(floats(f(ones({n}), ones({n}))).size(), size_t(n));
  EXPECT_EQ(vectorized_map([](Tensor row) { return row * 2; }, zeros({0, 3})).shape(),
            Shape({0, 3}));
  EXPECT_NE(refused([&] { f(ones({6}), ones({7})); }), Code{});
}

TEST(VectorizedMap, RefusesWhatHasNoRowsAndWhatEscapes) {
  EXPECT_EQ(refused([] { vectorized_map([](Tensor row) { return row; }, 3.f); }), Code::E1102);
  EXPECT_EQ(refused([] { vectorized_map([](Tensor row) { return row; }, Tensor()); }), Code::E1104);
  EXPECT_EQ(refused([] {
              vectorized_map([](std::pair<Tensor, Tensor> row) { return row.first; },
                             std::pair(zeros({2}), zeros({3})));
            }),
            Code::E1102);
  Tensor kept;
  vectorized_map(
      [&](Tensor row) {
        kept = row * 2;
        return kept;
      },
      ones({3, 2}));
  EXPECT_EQ(refused([&] { kept.to_vector<float>(); }), Code::E0114);
}

}  // namespace
}  // namespace holdfast
