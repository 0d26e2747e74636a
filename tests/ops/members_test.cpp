// What tensors and variables can be asked as members: parts, copies of numbers, masks.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include <array>

#include "tests/refused.h"

namespace holdfast {
namespace {

std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

TEST(Members, TakeParts) {
  Tensor x = reshape(range(24), {2, 3, 4});
  EXPECT_EQ(x[1].shape(), Shape({3, 4}));
  EXPECT_EQ(x[1][2][3].item<int>(), 23);
  EXPECT_EQ(x(1, 2, 3).item<int>(), 23);
  EXPECT_EQ(x[slice(0, 1)].shape(), Shape({1, 3, 4}));
  EXPECT_EQ(x(all, slice(1, std::nullopt), newaxis, 0).shape(), Shape({2, 2, 1}));
  EXPECT_EQ(x(ellipsis, -1).shape(), Shape({2, 3}));
  Tensor i = constant(1);
  size_t k = 2;
  EXPECT_EQ(x(i, k, 0).item<int>(), 20);
  EXPECT_EQ(x[x > 20].to_vector<int>(), (std::vector<int>{21, 22, 23}));
  EXPECT_EQ(refused([&] { x[2]; }), Code::E1103);
  EXPECT_EQ(refused([&] { x(0, 0, 0, 0); }), Code::E1103);
  EXPECT_EQ(refused([] { Tensor()[0]; }), Code::E1104);
  EXPECT_EQ(refused([] { Variable()[0] = 1.f; }), Code::E1104);
  static_assert(!std::is_assignable_v<decltype(x[0]), Tensor>, "it would change nothing");
}

TEST(Members, ChangePartsOfVariables) {
  Variable v(zeros({3, 2}));
  v[0] = 1.f;
  v(all, 1) += 10.f;
  v(2, 0) = v(0, 1) * 2;
  EXPECT_EQ(floats(v.read()), (std::vector<float>{1, 11, 0, 10, 22, 10}));
  EXPECT_EQ(floats(nn::relu(-v[1])), (std::vector<float>{0, 0}));
  EXPECT_EQ(matmul(v, transpose(v)).shape(), Shape({3, 3}));
  EXPECT_EQ(floats(maximum(v[0], v[2])), (std::vector<float>{22, 11}));
}

TEST(Members, GradientsAreOperandsOfAnyFunction) {
  Variable w(constant({1.f, -2.f}));
  GradientTape tape;
  std::vector<Gradient> g = tape.gradients({reduce_sum(w * w)}, {w});
  EXPECT_EQ(floats(nn::relu(g[0])), (std::vector<float>{2, 0}));
  EXPECT_EQ(floats(clip_by_value(g[0], -1, 1)), (std::vector<float>{1, -1}));
  Tensor dense = g[0];
  EXPECT_EQ(floats(dense), (std::vector<float>{2, -4}));
  EXPECT_EQ(refused([] { nn::relu(Gradient()); }), Code::E1104) << "there is none";
}

TEST(Members, TensorsOfValues) {
  std::vector<double> v{1, 2, 3, 4, 5, 6};
  Tensor t = Tensor::of(v, {2, 3});
  EXPECT_EQ(t.dtype(), float64);
  EXPECT_EQ(t.shape(), Shape({2, 3}));
  EXPECT_EQ(Tensor::of(v).shape(), Shape({6}));
  EXPECT_EQ(Tensor::of({1, 2, 3, 4}, {2, 2}).shape(), Shape({2, 2}));
  EXPECT_EQ(Tensor::of(std::array{1.f, 2.f}).shape(), Shape({2}));
  EXPECT_EQ(Tensor::of(std::array{1.f, 2.f}, {2, 1}).shape(), Shape({2, 1}));
  EXPECT_EQ(Tensor::of(std::vector<bool>{true, false}).to_vector<bool>(),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(Tensor::of(std::vector<std::string>{"a", "b"}, {2}).dtype(), DType::kString);
  EXPECT_EQ(refused([&] { Tensor::of(v, {2, 2}); }), Code::E1102);
  EXPECT_EQ(refused([&] { Tensor::of(v, {-1, 3}); }), Code::E1102);
}

TEST(Members, WrapSharesMemory) {
  auto data = std::make_shared<std::vector<float>>(4, 1.f);
  {
    Tensor t = Tensor::wrap(data->data(), {2, 2}, data);
    EXPECT_EQ(t.data<float>(), data->data());
    EXPECT_EQ(data.use_count(), 2);
  }
  EXPECT_EQ(data.use_count(), 1);
  std::vector<int> numbers{1, 2, 3};
  const int* place = numbers.data();
  EXPECT_EQ(Tensor::wrap(std::move(numbers), {3}).data<int>(), place);
}

TEST(Members, ShapesAreMadeOfAnyIntegers) {
  std::vector<float> rows(5);
  std::array<int, 2> sizes{2, 3};
  int64_t wide[] = {4, 5};
  EXPECT_EQ(zeros({rows.size(), 2u}).shape(), Shape({5, 2}));
  EXPECT_EQ(Shape(sizes), Shape({2, 3}));
  EXPECT_EQ(ones(sizes).shape(), Shape({2, 3}));
  EXPECT_EQ(reshape(range(20), std::span(wide)).shape(), Shape({4, 5}));
  EXPECT_EQ(Shape(std::span<const int64_t>(wide)), Shape({4, 5}));
  EXPECT_EQ(reduce_sum(ones({2, 3}), {.axis = std::array{0, 1}}).item<float>(), 6);
}

TEST(Members, ElementsOfAKeptValueAreItsOwn) {
  Tensor kept;
  auto f = function(
      [&](Tensor x) {
        kept = keep(x * 2);
        return reduce_sum(x);
      },
      {.reduce_retracing = true});
  for (int n = 1; n < 4; ++n) f(ones({n}));
  ASSERT_FALSE(kept.shape().is_full());
  EXPECT_EQ(kept.span<float>().size(), 3u);
  EXPECT_EQ(kept.span<float>()[2], 2.f);
}

TEST(Members, DevicesByName) {
  {
    DeviceScope on("cpu:0");
    EXPECT_EQ(zeros({2}).device(), cpu(0));
  }
  EXPECT_EQ(refused([] { DeviceScope on("CPU:99"); }), Code::E1103);
  EXPECT_EQ(refused([] { DeviceScope on("a GPU"); }), Code::E1104);
  EXPECT_EQ(context().device, nullptr) << "a refusal leaves nothing behind";
}

TEST(Members, AMaskGoesWithItsTensor) {
  Tensor x = ones({2, 3}), mask = constant({{true, true, false}, {true, false, false}});
  EXPECT_FALSE(x.mask().defined());
  x.set_mask(mask);
  Tensor same_tensor = x;
  EXPECT_TRUE(same(same_tensor.mask(), mask));
  EXPECT_FALSE((x + 1).mask().defined());
  x.set_mask({});
  EXPECT_FALSE(same_tensor.mask().defined());
  EXPECT_EQ(refused([&] { x.set_mask(x); }), Code::E1104);
  mask.set_mask(x);
  EXPECT_EQ(refused([&] { x.set_mask(mask); }), Code::E1104) << "nor by a detour";
  EXPECT_EQ(refused([&] { Tensor().set_mask(mask); }), Code::E1104);
}

}  // namespace
}  // namespace holdfast
