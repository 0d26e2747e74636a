// What a tensor means where C++ wants a bool, and what braces mean where a function wants axes.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include "tests/refused.h"

namespace holdfast {
namespace {

TEST(Truth, IsThatOfTheOneElement) {
  Tensor a = constant(1.5), b = constant(2.5);
  EXPECT_FALSE(static_cast<bool>(a > b));
  EXPECT_TRUE(static_cast<bool>(a < b));
  EXPECT_EQ(a > b ? 1 : 2, 2);
  EXPECT_TRUE(!(a > b) && a < b);
  int turns = 0;
  for (Tensor n = constant(3); n > 0; n = n - 1) ++turns;
  EXPECT_EQ(turns, 3);
  EXPECT_FALSE(static_cast<bool>(zeros({1, 1})));
  EXPECT_TRUE(static_cast<bool>(constant("x")));
  EXPECT_FALSE(static_cast<bool>(constant("")));
}

TEST(Truth, OfSeveralElementsOrNothingIsRefused) {
  EXPECT_EQ(refused([] { return static_cast<bool>(zeros({2})); }), Code::E1102);
  EXPECT_EQ(refused([] { return static_cast<bool>(zeros({0})); }), Code::E1102);
  EXPECT_EQ(refused([] { return static_cast<bool>(Tensor()); }), Code::E1104);
}

TEST(Truth, WhileTracingIsRefusedWithTheWayOut) {
  auto f = function([](const Tensor& x) { return x > 0 ? x : -x; });
  try {
    f(constant(1.f));
    FAIL() << "expected a refusal";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::E0201);
    EXPECT_NE(std::string(e.what()).find("cond("), std::string::npos) << e.what();
  }
}

TEST(Truth, ContainersOfTensorsDoNotCompare) {
  auto comparable = []<class T>(const T&) { return requires(T a) { a == a; }; };
  EXPECT_FALSE(comparable(std::vector<Tensor>()));
  EXPECT_FALSE(comparable(Tensors()));
  EXPECT_TRUE(comparable(Dims()));
}

TEST(Axes, InBracesAreAxes) {
  Tensor x = reshape(range(24), {2, 3, 4});
  EXPECT_EQ(reduce_sum(x, {0, 1}).shape(), Shape({4}));
  EXPECT_EQ(reduce_sum(x, {0}).shape(), Shape({3, 4}));
  EXPECT_EQ(reduce_sum(x, -1).shape(), Shape({2, 3}));
  EXPECT_EQ(reduce_sum(x, {1, 2}, true).shape(), Shape({2, 1, 1}));
  EXPECT_EQ(reduce_sum(x, {.axis = {0, 2}}).shape(), Shape({3}));
  EXPECT_EQ(reduce_sum(x, {.axis = 0, .keepdims = true}).shape(), Shape({1, 3, 4}));
  EXPECT_EQ(reduce_sum(x, std::vector<int>{1, 2}).shape(), Shape({2}));
  EXPECT_EQ(reduce_sum(x, Sizes{}).shape(), x.shape());
  EXPECT_EQ(transpose(x, {2, 0, 1}).shape(), Shape({4, 2, 3}));
  EXPECT_EQ(squeeze(reshape(x, {1, 24, 1}), {0, 2}).shape(), Shape({24}));
  EXPECT_EQ(argmax(x, 1).shape(), Shape({2, 4}));
  EXPECT_EQ(stack({x, x}, 1).shape(), Shape({2, 2, 3, 4}));
}

TEST(Numbers, BesideTensorsMustFit) {
  Tensor bytes = cast(constant({1, 2}), uint8);
  EXPECT_EQ(refused([&] { return bytes + 300; }), Code::E1103);
  EXPECT_EQ(refused([&] { return bytes - -1; }), Code::E1103);
  EXPECT_EQ(refused([] { return constant({1}) + (1LL << 40); }), Code::E1103);
  EXPECT_EQ(refused([] { return cast(constant({1}), int64) + UINT64_MAX; }), Code::E1103);
  EXPECT_EQ((cast(constant({1}), uint64) * UINT64_MAX).item<uint64_t>(), UINT64_MAX);
  EXPECT_EQ((bytes + 254).to_vector<uint8_t>(), (std::vector<uint8_t>{255, 0}));
  Tensor wide = fill({1}, 1LL << 40);
  EXPECT_EQ(wide.dtype(), int64);
  EXPECT_EQ(wide.item<int64_t>(), 1LL << 40);
}

TEST(Reading, IsChecked) {
  Tensor x = reshape(range(6), {2, 3}), copy = x, none;
  EXPECT_EQ(x.span<int32_t>()[5], 5);
  EXPECT_EQ(refused([&] { return x.data<float>(); }), Code::E1101);
  EXPECT_EQ(refused([&] { return x.mutable_data<int32_t>(); }), Code::E1104);
  EXPECT_EQ(refused([&] { return x.dim(2); }), Code::E1102);
  EXPECT_EQ(x.dim(-1), 3);
  EXPECT_EQ(refused([&] { return Tensors{x}[1]; }), Code::E1103);
  EXPECT_EQ(refused([&] { return none.rank(); }), Code::E1104);
  EXPECT_EQ(refused([] { return Shape({2, kUnknown}).size(); }), Code::E1102);
  Tensor mine = Tensor::of({1.f, 2.f});
  mine.mutable_data<float>()[0] = 3;
  EXPECT_EQ(mine.to_vector<float>(), (std::vector<float>{3, 2}));
  EXPECT_EQ(refused([] { return Variable().read(); }), Code::E1104);
  EXPECT_EQ(refused([] { Variable().assign(1); }), Code::E1104);
}

}  // namespace
}  // namespace holdfast
