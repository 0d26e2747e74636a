// Tensors made from what C++ programs have: numbers, braces, containers.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include "tests/refused.h"

namespace holdfast {
namespace {

TEST(Making, NumbersAndBracesAreAsInPython) {
  EXPECT_EQ(constant(1.5).dtype(), float32);
  EXPECT_EQ(constant({1.5, 2.5}).dtype(), float32);
  EXPECT_EQ(constant({{1.5}}).dtype(), float32);
  EXPECT_EQ(constant(1).dtype(), int32);
  EXPECT_EQ(constant({1LL << 40}).dtype(), int64);
  EXPECT_EQ(constant({0.1}, float64).item<double>(), 0.1) << "nothing is lost on the way";
}

TEST(Making, WhatHasAnElementTypeKeepsIt) {
  std::vector<double> doubles{0.1, 0.2};
  double plain[] = {0.1, 0.2};
  for (const Tensor& t :
       {constant(doubles), constant(std::span(doubles)), constant(std::span<const double>(doubles)),
        constant(std::array{0.1, 0.2}), constant(plain), Tensor::of({0.1, 0.2})}) {
    EXPECT_EQ(t.dtype(), float64);
    EXPECT_EQ(t.to_vector<double>(), doubles);
  }
  EXPECT_EQ(Tensor::scalar(0.1).dtype(), float64);
  EXPECT_EQ(constant(doubles, float32).dtype(), float32);
  EXPECT_EQ(constant(std::vector<uint8_t>{1}).dtype(), uint8);
  EXPECT_EQ(constant(std::vector<bool>{true, false}).to_vector<bool>(),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(constant(std::vector<std::string>{"a", "b"}).dtype(), string);
  EXPECT_EQ(constant(std::vector<const char*>{"a"}).item<std::string>(), "a");
}

TEST(Making, NestsToAnyDepth) {
  EXPECT_EQ(constant({{{{{{1, 2}, {3, 4}}}}}}).shape(), Shape({1, 1, 1, 1, 2, 2}));
  EXPECT_EQ(constant({{{{{{{{1, 2}}}}}}}}).rank(), 8);
  std::vector<std::vector<std::vector<float>>> nested{{{1, 2}}, {{3, 4}}, {{5, 6}}};
  EXPECT_EQ(constant(nested).shape(), Shape({3, 1, 2}));
  EXPECT_EQ(constant(nested).to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  int rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(constant(rows).shape(), Shape({2, 3}));
  EXPECT_EQ(constant(rows).to_vector<int>().back(), 6);
  EXPECT_EQ(constant(std::array<std::array<int, 2>, 3>{}).shape(), Shape({3, 2}));
  EXPECT_EQ(constant(std::vector<std::array<double, 2>>{{1, 2}}).shape(), Shape({1, 2}));
  EXPECT_EQ(constant(std::vector<std::vector<bool>>{{true}, {false}}).shape(), Shape({2, 1}));
  EXPECT_EQ(constant(std::vector<std::vector<int>>{}).shape(), Shape({0, 0}));
  EXPECT_EQ(refused([] { constant(std::vector<std::vector<int>>{{1}, {1, 2}}); }), Code::E1102);
}

TEST(Making, BirthsAreTheUsersLine) {
  std::vector<float> v{1};
  for (const Tensor& t : {constant(v), constant(std::span(v))})
    EXPECT_EQ(locate(t.born()).line, __LINE__ - 1);
}

}  // namespace
}  // namespace holdfast
