// What a Tensor is: a reference to a value that does not change.
#include "holdfast/tensor/tensor.h"

#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include <set>
#include <thread>

#include "../refused.h"

namespace holdfast {
namespace {

TEST(TensorTest, OneThatWasOnlyDeclaredIsRefusedEverywhere) {
  Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  EXPECT_EQ(refused([&] { (void)nothing.dtype(); }), Code::E1104);
  EXPECT_EQ(refused([&] { (void)nothing.shape(); }), Code::E1104);
  EXPECT_EQ(refused([&] { (void)nothing.rank(); }), Code::E1104);
  EXPECT_EQ(refused([&] { (void)nothing.id(); }), Code::E1104);
  EXPECT_EQ(refused([&] { (void)nothing.item<float>(); }), Code::E1104);
  EXPECT_EQ(refused([&] { (void)nothing.to_vector<float>(); }), Code::E1104);
  EXPECT_EQ(refused([&] { (void)nothing.span<float>(); }), Code::E1104);
  EXPECT_EQ(refused([&] { (void)nothing.has_value(); }), Code::E1104);
}

TEST(TensorTest, CopiesAreTheSameTensor) {
  Tensor a = Tensor::of({1.f, 2.f});
  Tensor b = a;
  EXPECT_EQ(a.id(), b.id());
  EXPECT_TRUE(same(a, b));
  EXPECT_FALSE(same(a, Tensor::of({1.f, 2.f})));
  b += 1;
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(refused([c = a]() mutable { (void)c.mutable_data<float>(); }), Code::E1104);
}

TEST(TensorTest, IdsOfManyThreadsDiffer) {
  std::vector<std::vector<uint64_t>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 500; ++i) mine.push_back(Tensor::scalar(i).id());
    });
  for (auto& t : threads) t.join();
  std::set<uint64_t> all;
  for (const auto& mine : seen) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 2000u);
}

TEST(TensorTest, ScalarsAreWhatTheyAreMadeOf) {
  EXPECT_EQ(Tensor::scalar(1.5).dtype(), float64);
  EXPECT_EQ(Tensor::scalar(3, uint8).item<uint8_t>(), 3);
  EXPECT_EQ(Tensor::scalar(true).item<bool>(), true);
  EXPECT_EQ(Tensor::scalar(2.75, float16).to_double(), 2.75);
  EXPECT_EQ(Tensor::scalar(7).to_int(), 7);
  EXPECT_EQ(Tensor::scalar(7).rank(), 0);
}

TEST(TensorTest, OfTakesAsManyValuesAsTheShapeHas) {
  EXPECT_EQ(Tensor::of({1, 2, 3, 4}, {2, 2}).shape(), (Shape{2, 2}));
  EXPECT_EQ(Tensor::of(std::vector<double>{}, {0, 3}).size(), 0);
  EXPECT_EQ(refused([] { Tensor::of({1, 2, 3}, {2, 2}); }), Code::E1102);
  EXPECT_NE(refused([] { Tensor::of({1, 2}, {-1}); }), Code{});
  EXPECT_NE(refused([] { Tensor::of({1}, Shape::unknown()); }), Code{});
}

TEST(TensorTest, ReadingChecksDtypeAndSize) {
  Tensor x = Tensor::of({1.f, 2.f});
  EXPECT_EQ(refused([&] { (void)x.item<float>(); }), Code::E1102);
  EXPECT_EQ(refused([&] { (void)x[0].item<int>(); }), Code::E1101);
  EXPECT_EQ(refused([&] { (void)x.to_vector<double>(); }), Code::E1101);
  EXPECT_EQ(x.span<float>().size(), 2u);
  EXPECT_EQ(x.bytes(), 8);
  EXPECT_EQ(Tensor::of(std::vector<float>{}).span<float>().size(), 0u);
}

TEST(TensorTest, AViewLooksIntoTheSameMemory) {
  Tensor x = Tensor::of({1, 2, 3, 4, 5, 6});
  Tensor tail = view_of(x, {2, 2}, 2 * static_cast<int64_t>(sizeof(int)));
  EXPECT_EQ(tail.to_vector<int>(), (std::vector<int>{3, 4, 5, 6}));
  EXPECT_EQ(tail.raw<int>(), x.raw<int>() + 2);
  EXPECT_NE(tail.id(), x.id());
  const int* held = tail.raw<int>();
  x = Tensor();
  EXPECT_EQ(*held, 3);  // the view keeps the memory
}

TEST(TensorTest, PrintsAsPythonDoes) {
  EXPECT_EQ(constant({{1.f, 2.5f}}).text(), "[[1.  2.5]]");
  EXPECT_EQ(constant({1, 2}).text(), "[1 2]");
  EXPECT_EQ(to_string(constant(true)), "True");
}

TEST(TensorTest, ASymbolHasTypeAndNoValue) {
  function([](const Tensor& x) {
    EXPECT_TRUE(x.is_symbolic());
    EXPECT_FALSE(x.has_value());
    EXPECT_EQ(x.dtype(), float32);
    EXPECT_EQ(x.shape(), (Shape{2}));
    EXPECT_EQ(x.device(), nullptr);
    EXPECT_EQ(refused([&] { (void)x.to_vector<float>(); }), Code::E0203);
    EXPECT_EQ(refused([&] { (void)x.span<float>(); }), Code::E0203);
    return x + 1;
  })(ones({2}));
}

TEST(TensorTest, WhatIsLetGoIsFreed) {
  auto bytes = [] {
    int64_t sum = 0;
    for (const LiveTensors& l : live_tensors()) sum += static_cast<int64_t>(l.bytes);
    return sum;
  };
  int64_t before = bytes();
  {
    Tensor big = zeros({1000, 1000});
    EXPECT_GE(bytes(), before + 4000000);
  }
  EXPECT_LT(bytes(), before + 4000000);
}

}  // namespace
}  // namespace holdfast
