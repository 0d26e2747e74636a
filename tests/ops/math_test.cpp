// What elementwise ops promise beyond the sweep over samples: special values, errors, gradients of
// kinks.
#include "holdfast/ops/math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/activations.h"
#include "holdfast/ops/array.h"
#include "holdfast/tensor/complex.h"
#include "holdfast/tensor/float16.h"

namespace holdfast {
namespace {

const float kInf = std::numeric_limits<float>::infinity(),
            kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Tensor of(std::initializer_list<T> v) {
  return Tensor::of<T>(v);
}
Tensor floats(std::initializer_list<float> v) { return Tensor::of<float>(v); }
Tensor ints(std::initializer_list<int32_t> v) { return Tensor::of<int32_t>(v); }

template <class T>
void expect(const Tensor& t, std::vector<T> want) {
  ASSERT_EQ(t.dtype(), dtype_of<T>);
  auto got = t.to_vector<T>();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(want[i])) {
        EXPECT_TRUE(std::isnan(got[i])) << i;
        continue;
      }
      if (std::isinf(want[i])) {
        EXPECT_EQ(got[i], want[i]) << i;
        continue;
      }
      EXPECT_NEAR(got[i], want[i], 1e-5 * (1 + std::abs(want[i]))) << i;
      EXPECT_EQ(std::signbit(got[i]), std::signbit(want[i])) << i;
    } else {
      EXPECT_EQ(got[i], want[i]) << i;
    }
  }
}

template <class F>
Code code_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.diagnostic().code;
  }
  ADD_FAILURE() << "nothing was refused";
  return Code::E1599;
}

TEST(Division, IntegersBecomeFloatsAsInTensorFlow) {
  expect<double>(divide(ints({1, 2}), ints({2, 0})), {0.5, INFINITY});
  EXPECT_EQ(divide(of<int8_t>({1}), of<int8_t>({2})).dtype(), float32);
  EXPECT_EQ(divide(of<uint16_t>({1}), of<uint16_t>({2})).dtype(), float32);
  EXPECT_EQ(divide(of<uint32_t>({1}), of<uint32_t>({2})).dtype(), float64);
  EXPECT_EQ(divide(5, 2).to_double(), 2.5);
  expect<double>(divide_no_nan(ints({1}), ints({0})), {0.0});
}

TEST(Division, AnIntegerDividedByZeroIsAnError) {
  for (auto f : {floordiv, floormod, truncatediv, truncatemod}) {
    EXPECT_EQ(code_of([&] { f(ints({-7, 7}), ints({2, 0})); }), Code::E1103);
    EXPECT_EQ(f(Tensor::of<int32_t>(std::span<const int32_t>(), Shape{0}), ints({0})).size(), 0);
  }
  expect<int32_t>(floordiv(ints({-7, 7, INT32_MIN}), ints({2, -2, -1})), {-4, -4, INT32_MIN});
  expect<int32_t>(floormod(ints({-7, 7, INT32_MIN}), ints({2, -2, -1})), {1, -1, 0});
  expect<int32_t>(truncatediv(ints({-7, 7}), ints({2, -2})), {-3, -3});
  expect<float>(floormod(floats({-7, -7, 5.5f}), floats({0, kInf, -2})), {kNan, kInf, -0.5f});
  expect<float>(truncatediv(floats({-7}), floats({2})), {-3});
}

TEST(Pow, NegativePowersOfIntegersAreRefused) {
  EXPECT_EQ(code_of([] { pow(ints({2}), ints({-1})); }), Code::E1103);
  expect<int32_t>(pow(ints({2, -3, 0}), ints({10, 3, 0})), {1024, -27, 1});
  EXPECT_EQ(code_of([] { pow(of<uint8_t>({2}), of<uint8_t>({1})); }), Code::E1101);
}

TEST(Arithmetic, NansAndZerosAsInTensorFlow) {
  expect<float>(maximum(floats({kNan, 1}), floats({1, kNan})), {kNan, kNan});
  expect<float>(clip_by_value(floats({kNan, 1, 5}), 0, 2), {kNan, 1, 2});
  expect<float>(clip_by_value(floats({1, 5, -3}), 3, 2), {3, 3, 3});
  expect<float>(multiply_no_nan(floats({kNan, kInf, 1}), floats({0, 0, kNan})), {0, 0, kNan});
  expect<float>(divide_no_nan(floats({kNan, kInf, 1}), floats({0, 0, kNan})), {0, 0, kNan});
  expect<float>(xlogy(floats({0, 0}), floats({kNan, 0})), {0, 0});
  expect<float>(xdivy(floats({0, 0}), floats({kNan, 0})), {0, 0});
  expect<float>(sign(floats({kNan, -0.0f, -2})), {kNan, 0, -1});
  expect<float>(round(floats({2.5f, -0.5f, 3.5f})), {2, -0.0f, 4});
  expect<float>(digamma(floats({0, -1})), {kNan, kNan});
  expect<float>(lgamma(floats({0, -1, -1.5f, -kInf})), {kInf, kInf, 0.86004704f, kInf});
  expect<float>(igamma(floats({0, 1, -1}), floats({1, 0, 1})), {kNan, 0, kNan});
  expect<int32_t>(abs(ints({INT32_MIN, -3})), {INT32_MIN, 3});
  EXPECT_EQ(code_of([] { negative(of<uint8_t>({1})); }), Code::E1101);
  EXPECT_EQ(code_of([] {
              clip_by_value(floats({1, 5}),
                            Tensor::of<float>(std::vector<float>{0, 2}, Shape{2, 1}), 3);
            }),
            Code::E1102);
}

TEST(Strings, AreJoinedAndCompared) {
  Tensor x = of<std::string>({"a", "b"});
  expect<std::string>(x + of<std::string>({"c"}), {"ac", "bc"});
  expect<bool>(equal(x, of<std::string>({"a"})), {true, false});
  expect<bool>(not_equal(x, of<std::string>({"a"})), {false, true});
  EXPECT_EQ(code_of([&] { less(x, x); }), Code::E1101);
}

TEST(Comparison, ShapesThatDoNotBroadcast) {
  EXPECT_EQ(code_of([] { equal(floats({1, 2}), floats({1, 2, 3})); }), Code::E1102);
  Op raw(find_op("Equal"));
  EXPECT_FALSE(raw({floats({1, 2}), floats({1, 2, 3})}, {false}).item<bool>());
  expect<bool>(equal(floats({kNan}), floats({kNan})), {false});
  EXPECT_TRUE(is_non_decreasing(ints({1, 1, 2})).item<bool>());
  EXPECT_FALSE(is_strictly_increasing(ints({1, 1, 2})).item<bool>());
}

TEST(Bits, ShiftsOutsideTheWordAreClamped) {
  expect<int32_t>(bitwise::left_shift(ints({1, -1}), ints({32, -3})), {INT32_MIN, -1});
  expect<int32_t>(bitwise::right_shift(ints({1, -8}), ints({32, -3})), {0, -8});
  expect<uint8_t>(bitwise::right_shift(of<uint8_t>({255}), of<uint8_t>({9})), {1});
}

TEST(Cast, IsDefinedForEveryNumber) {
  Tensor x = floats({1.9f, -1.9f, kNan, kInf, -kInf, 300, -300});
  expect<int32_t>(cast(x, int32), {1, -1, INT32_MIN, INT32_MIN, INT32_MIN, 300, -300});
  expect<uint8_t>(cast(x, uint8), {1, 255, 0, 0, 0, 44, 212});
  expect<int8_t>(cast(x, int8), {1, -1, 0, 0, 0, 44, -44});
  expect<uint32_t>(cast(floats({-1.9f, kNan}), uint32), {4294967295u, 0});
  expect<uint64_t>(cast(floats({-1.9f, 1e19f, kNan}), uint64),
                   {~0ull, 9999999980506447872ull, 1ull << 63});
  expect<bool>(cast(floats({1.9f, 0, kNan, 0.1f}), boolean), {true, false, true, true});
  expect<float>(cast(of<complex64>({{1.5f, 2}}), float32), {1.5f});
  expect<bool>(cast(of<complex64>({{0, 2}}), boolean), {false});
  EXPECT_EQ(code_of([] { cast(of<std::string>({"a"}), int32); }), Code::E1105);
  expect<uint8_t>(saturate_cast(floats({-1.9f, kInf, 300, 7}), uint8), {0, 255, 255, 7});
  expect<int32_t>(saturate_cast(floats({3e9f, -3e9f}), int32), {2147483520, INT32_MIN});
  expect<uint8_t>(saturate_cast(ints({-1, 300}), uint8), {0, 255});
  expect<int64_t>(saturate_cast(of<uint64_t>({~0ull, 3}), int64), {INT64_MAX, 3});
  expect<uint64_t>(saturate_cast(of<int64_t>({-1, 3}), uint64), {0, 3});
}

TEST(AddN, WantsOneShape) {
  expect<float>(add_n({floats({1}), floats({2}), floats({4})}), {7});
  EXPECT_EQ(code_of([] { add_n({floats({1}), floats({2, 3})}); }), Code::E1102);
  EXPECT_EQ(code_of([] { add_n(std::vector<Tensor>{}); }), Code::E1103);
}

TEST(Select, BroadcastsAllThree) {
  Tensor c = of<bool>({true, false});
  expect<float>(select(c, Tensor::of<float>(std::vector<float>{1, 2}, Shape{2, 1}), 0),
                {1, 0, 2, 0});
  expect<std::string>(select(c, of<std::string>({"a"}), of<std::string>({"b"})), {"a", "b"});
}

TEST(Complex, PartsAndAngles) {
  Tensor z = of<complex64>({{3, 4}, {-1, 0}});
  expect<float>(abs(z), {5, 1});
  expect<float>(angle(z), {0.92729522f, 3.14159265f});
  expect<float>(imag(floats({1})), {0});
  expect<float>(angle(floats({1, -1, kNan})), {0, 3.14159265f, 0});
  EXPECT_EQ(code_of([] { complex(of<half>({half(1)}), of<half>({half(1)})); }), Code::E1101);
}

TEST(Activations, KeepNanAndNegativeZero) {
  expect<float>(nn::relu(floats({kNan, -0.0f, -1})), {kNan, -0.0f, 0});
  expect<float>(nn::relu6(floats({kNan, -0.0f, -1, 7})), {kNan, -0.0f, 0, 6});
  expect<float>(nn::leaky_relu(ints({-1, 7})), {-0.2f, 7});
  expect<float>(nn::leaky_relu(floats({-1, 7}), {.alpha = 2}), {-2, 7});
  expect<float>(nn::silu(floats({-1, 7}), {.beta = In(2.0f)}), {-0.11920292f, 6.9999943f});
  expect<float>(log_sigmoid(floats({100, -100})), {-0.0f, -100});
  EXPECT_EQ(code_of([] { nn::gelu(ints({1})); }), Code::E1101);
}

TEST(Operators, NeedATensorAndKeepNumbersAlone) {
  Tensor x = floats({1, 2});
  expect<float>((2 - x) * 3 / x % 2, {1, 0});
  expect<bool>(x < 2, {true, false});
  expect<bool>(x == 2, {false, true});
  expect<bool>((x > 0) & (x != 2), {true, false});
  expect<bool>(~(x > 1), {true, false});
  static_assert(std::is_same_v<decltype(1 + 2), int>);
  static_assert(std::is_same_v<decltype(float32 == int32), bool>);
  EXPECT_FALSE(Tensor().defined());
}

double second(Tensor (*f)(const In&), float at) {
  Tensor x = Tensor::scalar(at);
  GradientTape outer;
  outer.start();
  outer.watch(x);
  GradientTape inner;
  inner.start();
  inner.watch(x);
  Tensor y = f(x);
  Tensor first = inner.gradient(y, x);
  return outer.gradient(first, x).to_double();
}

TEST(Gradients, OfTheSecondOrder) {
  EXPECT_NEAR(second(tanh, 0.5f), -2 * std::tanh(0.5) * (1 - std::pow(std::tanh(0.5), 2)), 1e-5);
  EXPECT_NEAR(second(sqrt, 2.0f), -0.25 * std::pow(2.0, -1.5), 1e-5);
  EXPECT_NEAR(second(rsqrt, 2.0f), 0.75 * std::pow(2.0, -2.5), 1e-5);
  EXPECT_NEAR(second(reciprocal, 2.0f), 0.25, 1e-5);
  EXPECT_NEAR(second(nn::relu, 2.0f), 0, 0);
  EXPECT_NEAR(second(nn::elu, -0.5f), std::exp(-0.5), 1e-5);
}

TEST(Cast, FloatsOfAnyBitsRoundToHalvesAlike) {
  std::vector<float> v;
  for (uint32_t exponent = 0; exponent < 256; ++exponent)
    for (uint32_t fraction : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x3001u,
                              0x400000u, 0x7fefffu, 0x7ff000u, 0x7fffffu})
      for (uint32_t sign : {0u, 1u << 31})
        v.push_back(std::bit_cast<float>(sign | exponent << 23 | fraction));
  Tensor x = empty(float32, {static_cast<int64_t>(v.size())}, cpu());
  std::copy(v.begin(), v.end(), x.mutable_raw<float>());
  Tensor got = cast(x, float16);
  for (size_t i = 0; i < v.size(); ++i) ASSERT_EQ(got.raw<half>()[i].bits, half(v[i]).bits) << v[i];
}

}  // namespace
}  // namespace holdfast
