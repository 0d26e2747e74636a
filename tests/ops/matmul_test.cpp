// Matrix products: values in every dtype, broadcasting, refusals, the same bits for any number of
// threads, forks.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <random>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/parallel.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/complex.h"

namespace holdfast {
namespace {

template <class T>
Tensor filled(const Shape& shape, int seed = 1) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_int_distribution<int> draw(-4, 4);
  std::vector<T> v;
  for (int64_t i = 0; i < shape.size(); ++i) {
    if constexpr (std::is_unsigned_v<T>)
      v.push_back(static_cast<T>(draw(random) + 4));
    else
      v.push_back(static_cast<T>(static_cast<float>(draw(random))));
  }
  return Tensor::of<T>(std::span<const T>(v), shape);
}
template <>
Tensor filled<complex128>(const Shape& shape, int seed) {
  auto re = filled<double>(shape, seed).to_vector<double>(),
       im = filled<double>(shape, seed + 7).to_vector<double>();
  std::vector<complex128> v;
  for (size_t i = 0; i < re.size(); ++i) v.emplace_back(re[i], im[i]);
  return Tensor::of<complex128>(std::span<const complex128>(v), shape);
}

// Small integers: every dtype holds the sums exactly, in any order.
template <class T>
void check_product(int64_t m, int64_t k, int64_t n, bool ta, bool tb) {
  Tensor a = filled<T>(ta ? Shape{k, m} : Shape{m, k}),
         b = filled<T>(tb ? Shape{n, k} : Shape{k, n}, 2);
  Tensor y = matmul(a, b, {.transpose_a = ta, .transpose_b = tb});
  ASSERT_EQ(y.shape(), (Shape{m, n}));
  auto va = a.to_vector<T>(), vb = b.to_vector<T>(), vy = y.to_vector<T>();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      std::conditional_t<std::is_same_v<T, complex128>, T, double> sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        auto x = va[static_cast<size_t>(ta ? p * m + i : i * k + p)];
        auto z = vb[static_cast<size_t>(tb ? j * k + p : p * n + j)];
        if constexpr (std::is_same_v<T, complex128>)
          sum += x * z;
        else
          sum += static_cast<double>(x) * static_cast<double>(z);
      }
      if constexpr (std::is_same_v<T, complex128>)
        ASSERT_EQ(vy[static_cast<size_t>(i * n + j)], sum);
      else
        ASSERT_EQ(static_cast<double>(vy[static_cast<size_t>(i * n + j)]),
                  static_cast<double>(static_cast<T>(static_cast<float>(sum))))
            << m << " " << k << " " << n << " at " << i << "," << j;
    }
}

template <class T>
class Product : public testing::Test {};
using Types = testing::Types<float, double, half, bfloat, int32_t, int64_t, uint32_t, int16_t,
                             uint16_t, complex128>;
TYPED_TEST_SUITE(Product, Types);
TYPED_TEST(Product, EqualsTheSumOfProducts) {
  for (auto [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                         {3, 4, 5},
                         {1, 17, 33},
                         {33, 9, 1},
                         {13, 31, 37},
                         {50, 20, 70}})
    for (int t = 0; t < 4; ++t) check_product<TypeParam>(m, k, n, t & 1, t & 2);
}
TEST(Matmul, LargeSizesCrossEveryBlock) {
  check_product<double>(251, 330, 70, false, true);
  check_product<double>(20, 20, 2100, true, false);
  check_product<int64_t>(250, 321, 40, true, true);
  check_product<float>(250, 321, 40, false, true);
}

TEST(Matmul, BatchesBroadcast) {
  Tensor a = filled<float>({2, 1, 3, 4}), b = filled<float>({5, 4, 6}, 3);
  Tensor y = matmul(a, b);
  ASSERT_EQ(y.shape(), (Shape{2, 5, 3, 6}));
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 5; ++j)
      EXPECT_EQ(view_of(y, Shape{3, 6}, (i * 5 + j) * 18 * 4).to_vector<float>(),
                matmul(view_of(a, Shape{3, 4}, i * 12 * 4), view_of(b, Shape{4, 6}, j * 24 * 4))
                    .to_vector<float>());
}
TEST(Matmul, ManySmallOnesEqualOneByOne) {
  Tensor a = filled<float>({40, 5, 7}), b = filled<float>({40, 3, 7}, 3);
  Tensor y = matmul(a, b, {.transpose_b = true});
  for (int64_t i = 0; i < 40; ++i)
    EXPECT_EQ(view_of(y, Shape{5, 3}, i * 60).to_vector<float>(),
              matmul(view_of(a, Shape{5, 7}, i * 140), view_of(b, Shape{3, 7}, i * 84),
                     {.transpose_b = true})
                  .to_vector<float>());
}
TEST(Matmul, AnEmptyInnerSizeGivesZeros) {
  EXPECT_EQ(matmul(filled<float>({2, 0}), filled<float>({0, 3})).to_vector<float>(),
            std::vector<float>(6, 0.f));
  EXPECT_EQ(matmul(filled<float>({0, 2}), filled<float>({2, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(matmul(filled<float>({0, 2, 2}), filled<float>({2, 3})).shape(), (Shape{0, 2, 3}));
}
TEST(Matmul, BytesMayBeSummedInInt32) {
  Tensor y =
      matmul(Tensor::of<int8_t>(std::vector<int8_t>{127, 127}, {1, 2}),
             Tensor::of<int8_t>(std::vector<int8_t>{127, 127}, {2, 1}), {.output_type = int32});
  EXPECT_EQ(y.item<int32_t>(), 2 * 127 * 127);
}
TEST(Matmul, RefusesWhatDoesNotFit) {
  Tensor a = filled<float>({2, 3}), b = filled<float>({4, 2});
  EXPECT_THROW(matmul(a, b), InvalidArgumentError);
  EXPECT_THROW(matmul(a, filled<double>({3, 2})), InvalidArgumentError);
  EXPECT_THROW(matmul(a, filled<float>({3})), InvalidArgumentError);
  EXPECT_THROW(matmul(1.f, 2.f), InvalidArgumentError);
  EXPECT_THROW(matmul(a, b, {.transpose_a = true, .adjoint_a = true}), Error);
  EXPECT_THROW(matmul(filled<float>({2, 2, 3}), filled<float>({3, 3, 2})), InvalidArgumentError);
  EXPECT_THROW(matmul(a, filled<float>({3, 2}), {.output_type = int32}), UnimplementedError);
  EXPECT_THROW(matmul(filled<float>({int64_t{1} << 40, 0}), filled<float>({0, int64_t{1} << 40})),
               Error);
}

TEST(Matmul, DeterministicModeGivesTheSameBitsForAnyNumberOfThreads) {
  set_deterministic(true);
  for (Shape s : {Shape{513, 300, 700}, Shape{64, 5000, 64}, Shape{1, 900, 900}}) {
    std::mt19937 random(3);
    std::normal_distribution<float> draw;
    auto noise = [&](const Shape& t) {
      std::vector<float> v(static_cast<size_t>(t.size()));
      for (float& x : v) x = draw(random);
      return Tensor::of<float>(std::span<const float>(v), t);
    };
    Tensor a = noise({s[0], s[1]}), b = noise({s[1], s[2]}), ab = noise({9, 40, s[1]}),
           bb = noise({9, s[1], 40});
    set_num_threads(1);
    auto want = matmul(a, b).to_vector<float>(), batched = matmul(ab, bb).to_vector<float>();
    for (int threads : {2, 8}) {
      set_num_threads(threads);
      EXPECT_EQ(matmul(a, b).to_vector<float>(), want);
      EXPECT_EQ(matmul(ab, bb).to_vector<float>(), batched);
    }
  }
  set_num_threads(0);
  set_deterministic(false);
}

TEST(Matmul, SmallProductsOfAllSizes) {
  for (int64_t m : {1, 2, 5, 6, 7, 12, 13, 63, 64, 65})
    for (int64_t n : {1, 3, 7, 8, 9, 16, 17, 31, 33, 64, 65})
      for (int64_t k : {1, 2, 9, 64, 65})
        for (bool ta : {false, true}) check_product<float>(m, k, n, ta, false);
}

TEST(Matmul, ManyRowsTimesASmallMatrixHaveTheBitsOfFewForAnyNumberOfThreads) {
  for (int64_t n : {16, 32, 64}) {
    Tensor a = sin(filled<float>({3001, 40})), b = sin(filled<float>({40, n}, 3));
    set_num_threads(1);
    auto whole = matmul(a, b).to_vector<float>();
    auto few = matmul(slice(a, {2990, 0}, {11, 40}), b).to_vector<float>();
    EXPECT_EQ(few, std::vector<float>(whole.end() - 11 * n, whole.end()));
    set_num_threads(3);
    EXPECT_EQ(matmul(a, b).to_vector<float>(), whole);
    EXPECT_EQ(matmul(transpose(a), b, {.transpose_a = true}).to_vector<float>(), whole);
    set_num_threads(0);
  }
  for (int64_t m : {66, 71, 72, 1500})
    for (int64_t k : {1, 16, 64})
      for (int64_t n : {8, 16, 48}) check_product<float>(m, k, n, m % 2, false);
}

TEST(Matmul, AnElementOfASmallProductDoesNotDependOnTheOtherSizes) {
  Tensor a = sin(filled<float>({64, 40})), b = sin(filled<float>({40, 56}, 3));
  auto whole = matmul(a, b).to_vector<float>();
  for (int64_t m : {1, 3, 8, 50})
    for (int64_t n : {8, 11, 24, 55}) {
      auto part = matmul(slice(a, {0, 0}, {m, 40}), slice(b, {0, 0}, {40, n})).to_vector<float>();
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          ASSERT_EQ(part[static_cast<size_t>(i * n + j)], whole[static_cast<size_t>(i * 56 + j)]);
    }
}

TEST(Matmul, BatchesThatBroadcastBothWays) {
  Tensor a = filled<float>({70, 1, 3, 4}), b = filled<float>({1, 80, 4, 2}, 5);
  Tensor y = matmul(a, b);
  ASSERT_EQ(y.shape(), (Shape{70, 80, 3, 2}));
  for (auto [i, j] : {std::pair{0, 0}, {69, 79}, {7, 61}, {33, 2}}) {
    auto one = matmul(reshape(slice(a, {i, 0, 0, 0}, {1, 1, 3, 4}), {3, 4}),
                      reshape(slice(b, {0, j, 0, 0}, {1, 1, 4, 2}), {4, 2}));
    EXPECT_EQ(slice(y, {i, j, 0, 0}, {1, 1, 3, 2}).to_vector<float>(), one.to_vector<float>());
  }
}

TEST(Matmul, AForkedChildDoesNotHang) {
  set_num_threads(2);
  Tensor a = filled<float>({600, 600}), d = filled<double>({600, 600}),
         s = filled<float>({300, 16, 16});
  float want = matmul(a, a).to_vector<float>()[5];
  matmul(d, d);
  matmul(s, s);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool same = matmul(a, a).to_vector<float>()[5] == want;
    matmul(d, d);
    matmul(s, s);
    _exit(same ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  set_num_threads(0);
}

}  // namespace
}  // namespace holdfast
