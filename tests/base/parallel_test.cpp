// The team of threads, and programs that have teams of their own.
#include "holdfast/base/parallel.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

Tensor noise(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i * 37 % 101) / 101 - 0.5f;
  return Tensor::of<float>(std::span<const float>(values), shape);
}

// Products, convolutions and gradients that libraries compute with threads which wait for each
// other, and a loop of ours.
std::vector<Tensor> all_kinds() {
  Tensor a = noise({300, 200}), b = noise({200, 130}), stack = noise({40, 24, 20});
  Tensor image = noise({6, 20, 20, 15}), filter = noise({5, 5, 15, 40}),
         apart = noise({5, 5, 15, 2});
  auto both = [](const auto& conv, const Tensor& x, const Tensor& w) {
    GradientTape tape;
    tape.watch(x);
    tape.watch(w);
    Tensor y = conv(x, w), loss = reduce_sum(square(y));
    tape.stop();
    auto slopes = tape.gradients({loss}, {x, w});
    return std::array{y, slopes[0].dense, slopes[1].dense};
  };
  std::vector<Tensor> out{matmul(a, b), matmul(stack, stack, {.transpose_b = true}),
                          cast(matmul(cast(a, bfloat16), cast(b, bfloat16)), float32),
                          reduce_sum(noise({400, 1000}), {.axis = 0})};
  for (const Tensor& t :
       both([](auto& x, auto& w) { return nn::conv2d(x, w, 1, "SAME"); }, image, filter))
    out.push_back(t);
  for (const Tensor& t :
       both([](auto& x, auto& w) { return nn::depthwise_conv2d(x, w, {1, 1, 1, 1}, "SAME"); },
            image, apart))
    out.push_back(t);
  return out;
}

// OpenMP gives a region inside of a region one thread, whatever it asks for; libraries that were
// told of two waited for the other for ever.
TEST(Parallel, OpsRunInsideOfAProgramsOwnRegions) {
  // What GCC makes of `#pragma omp parallel num_threads(4)`.
  auto* region = reinterpret_cast<void (*)(void (*)(void*), void*, unsigned, unsigned)>(
      dlsym(RTLD_DEFAULT, "GOMP_parallel"));
  if (!region) GTEST_SKIP() << "built without OpenMP";
  set_num_threads(2);
  struct Runs {
    std::atomic<int> next{0};
    std::array<std::vector<Tensor>, 4> results;
  } runs;
  std::vector<Tensor> alone = all_kinds();
  region(
      [](void* data) {
        auto& all = *static_cast<Runs*>(data);
        auto mine = static_cast<size_t>(all.next++);
        for (int i = 0; i < 3; ++i) all.results[mine] = all_kinds();
      },
      &runs, 4, 0);
  set_num_threads(0);
  ASSERT_GE(runs.next, 1);
  for (int r = 0; r < runs.next; ++r)
    for (size_t i = 0; i < alone.size(); ++i) {
      auto got = runs.results[static_cast<size_t>(r)][i].to_vector<float>();
      auto want = alone[i].to_vector<float>();
      ASSERT_EQ(got.size(), want.size());
      float most = 0;
      for (float v : want) most = std::max(most, std::abs(v));
      for (size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], want[k], 1e-2f * most) << i;
    }
}

// The pieces of a loop run once each, however many threads are asked for and whoever fails.
TEST(Parallel, EachPieceRunsOnceForAnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 16, 17, 40})
    for (int64_t n : {1, 2, 15, 16, 17, 39, 41, 1000}) {
      set_num_threads(threads);
      std::vector<std::atomic<int>> runs(static_cast<size_t>(n));
      parallel_for(n, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++runs[static_cast<size_t>(i)];
        parallel_for(3, 1, [&](int64_t, int64_t) {});
      });
      for (auto& r : runs) ASSERT_EQ(r, 1);
      std::atomic<int> begun{0};
      EXPECT_THROW(parallel_for(n, 1,
                                [&](int64_t begin, int64_t) {
                                  ++begun;
                                  if (begin == n / 2) throw std::runtime_error("one");
                                }),
                   std::runtime_error);
      EXPECT_LE(begun, n);
    }
  set_num_threads(0);
}

// OpenMP ended the process for want of threads, or crashed.
TEST(Parallel, AMillionThreadsAreAsManyAsThereMayBe) {
  set_num_threads(1'000'000);
  EXPECT_GE(num_threads(), 2);
  Tensor x = noise({16, 24, 24, 15}), w = noise({5, 5, 15, 40});
  Tensor many = nn::conv2d(x, w, 1, "SAME");
  set_num_threads(1);
  Tensor one = nn::conv2d(x, w, 1, "SAME");
  set_num_threads(0);
  EXPECT_LT(reduce_max(abs(many - one)).item<float>(), 1e-2f);
}

}  // namespace
}  // namespace holdfast
