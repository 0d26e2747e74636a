// Pools: what padding counts for, where gradients go, refusals.
#include "holdfast/ops/pooling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

template <class T = float>
Tensor counted(const Shape& shape) {
  std::vector<T> v(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>(i);
  return Tensor::of<T>(std::span<const T>(v), shape);
}

template <class F>
Code code_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.diagnostic().code;
  }
  return Code{};
}

TEST(Pool, MeansLeavePaddedCellsOut) {
  EXPECT_EQ(nn::avg_pool(counted({1, 3, 3, 1}), 2, 2, "SAME").to_vector<float>(),
            (std::vector<float>{2, 3.5, 6.5, 8}));
}

TEST(Pool, TheGradientGoesToTheFirstOfTheLargest) {
  Tensor x = zeros({1, 2, 2, 1});
  GradientTape tape;
  tape.watch(x);
  Tensor y = reduce_sum(nn::max_pool(x, 2, 2, "VALID"));
  EXPECT_EQ(tape.gradient(y, x).to_vector<float>(), (std::vector<float>{1, 0, 0, 0}));
}

TEST(Pool, ANumberBeatsNan) {
  Tensor x = reshape(Tensor::of<float>({1, NAN, 2, 3, NAN, NAN, NAN, NAN}), {2, 2, 2, 1});
  std::vector<float> y = nn::max_pool(x, 2, 2, "VALID").to_vector<float>();
  EXPECT_EQ(y[0], 3);
  EXPECT_TRUE(std::isnan(y[1]));
}

TEST(Pool, IntegersHaveALargestToo) {
  EXPECT_EQ(nn::max_pool(counted<int32_t>({1, 2, 2, 1}), 2, 1, "VALID").to_vector<int32_t>(),
            std::vector<int32_t>{3});
  EXPECT_EQ(code_of([] { nn::avg_pool(counted<int32_t>({1, 2, 2, 1}), 2, 1, "VALID"); }),
            Code::E1101);
}

TEST(Pool, IndicesCountWithinAnImageOrTheBatch) {
  Tensor x = counted({2, 4, 4, 1});
  EXPECT_EQ(std::get<1>(nn::max_pool_with_argmax(x, 2, 2, "SAME")).to_vector<int64_t>(),
            (std::vector<int64_t>{5, 7, 13, 15, 5, 7, 13, 15}));
  EXPECT_EQ(std::get<1>(nn::max_pool_with_argmax(x, 2, 2, "SAME", {.include_batch_in_index = true}))
                .to_vector<int64_t>(),
            (std::vector<int64_t>{5, 7, 13, 15, 21, 23, 29, 31}));
}

TEST(Pool, WindowsLargerThanTheImageAreFineWherePaddingHelps) {
  EXPECT_EQ(nn::max_pool(counted({1, 3, 3, 1}), 2147483647, 1, "SAME").data<float>()[0], 8);
  EXPECT_EQ(nn::avg_pool(counted({1, 3, 3, 1}), 2147483647, 1, "SAME").data<float>()[0], 4);
}

TEST(Pool, RefusesWhatDoesNotFit) {
  Tensor x = counted({1, 4, 4, 1});
  EXPECT_EQ(code_of([&] { nn::max_pool(counted({1, 1, 1, 1}), 2, 2, "VALID"); }), Code::E1102);
  EXPECT_EQ(code_of([&] { nn::max_pool(x, 0, 2, "VALID"); }), Code::E1103);
  EXPECT_EQ(code_of([&] { nn::max_pool(x, 2, 2, {{0, 0}, {2, 1}, {1, 1}, {0, 0}}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { nn::max_pool(x, {2, 1, 1, 1}, 1, "VALID"); }), Code::E1105);
  EXPECT_EQ(code_of([&] { nn::avg_pool(x, 2, 2, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}); }), Code::E1105);
  EXPECT_EQ(code_of([&] { nn::pool(x, {2, 2}, "FOO"); }), Code::E1103);
  // Holes in the window beside a step or padding.
  EXPECT_EQ(
      code_of([&] { nn::pool(x, {2, 2}, "MAX", {.strides = Sizes(2), .dilations = Sizes(2)}); }),
      Code::E1105);
  EXPECT_EQ(
      code_of([&] { nn::pool(x, {2, 2}, "MAX", {.padding = "SAME", .dilations = Sizes(2)}); }),
      Code::E1105);
  EXPECT_EQ(code_of([&] { nn::max_pool(counted({1, 4}), 2, 2, "VALID"); }), Code::E1102);
}

}  // namespace
}  // namespace holdfast
