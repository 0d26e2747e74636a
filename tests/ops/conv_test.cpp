// Convolutions: results of all kernels against the definition, gradients against each other,
// refusals.
#include "holdfast/ops/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/parallel.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

template <class T = float>
Tensor noise(const Shape& shape, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<T> v(static_cast<size_t>(shape.size()));
  for (T& x : v) x = static_cast<T>(number(generator));
  return Tensor::of<T>(std::span<const T>(v), shape);
}

Tensor ones(const Shape& shape) {
  std::vector<float> v(static_cast<size_t>(shape.size()), 1.0f);
  return Tensor::of<float>(std::span<const float>(v), shape);
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

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  Tensor x = cast(a, float64), y = cast(b, float64);
  for (int64_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x.data<double>()[i], y.data<double>()[i], tolerance) << "at " << i;
}

struct Gradients {
  Tensor image, filter;
};
Gradients gradients(const Tensor& x, const Tensor& w, auto&& f) {
  GradientTape tape;
  tape.watch(x);
  tape.watch(w);
  Tensor y = f(x, w), loss = reduce_sum(y * cast(noise<double>(y.shape(), 9), y.dtype()));
  tape.stop();
  auto g = tape.gradients({loss}, {x, w});
  return {g[0].dense, g[1].dense};
}

TEST(Conv, SamePaddingAddsTheOddCellBehind) {
  Tensor y = nn::conv2d(ones({1, 4, 4, 1}), ones({2, 2, 1, 1}), 1, "SAME");
  EXPECT_EQ(y.to_vector<float>(),
            (std::vector<float>{4, 4, 4, 2, 4, 4, 4, 2, 4, 4, 4, 2, 2, 2, 2, 1}));
}

TEST(Conv, PaddingMayBeAListOfPairs) {
  Tensor y =
      nn::conv2d(ones({1, 4, 4, 1}), ones({3, 3, 1, 1}), 1, {{0, 0}, {1, 0}, {2, 1}, {0, 0}});
  EXPECT_EQ(y.shape(), (Shape{1, 3, 5, 1}));
  EXPECT_EQ(y.data<float>()[0], 2);
}

// float64 runs our own kernels, float32 the library's where there is one.
TEST(Conv, AllKernelsAgree) {
  struct Case {
    Shape image, filter;
    Sizes strides, dilations;
    const char* padding;
  };
  for (const Case& c : {Case{{2, 9, 8, 16}, {3, 3, 16, 32}, 1, 1, "SAME"},
                        Case{{2, 9, 8, 16}, {3, 2, 16, 8}, 2, 1, "VALID"},
                        Case{{2, 9, 8, 8}, {3, 3, 2, 12}, 1, 1, "SAME"},
                        Case{{3, 9, 8, 1}, {3, 3, 1, 20}, 1, 1, "VALID"},
                        Case{{3, 9, 8, 3}, {5, 5, 3, 20}, 2, 1, "SAME"},
                        Case{{2, 11, 9, 4}, {3, 3, 4, 4}, 1, 2, "SAME"},
                        Case{{1, 9, 8, 16}, {1, 1, 16, 32}, 3, 1, "SAME"}}) {
    Tensor x = noise<double>(c.image, 1), w = noise<double>(c.filter, 2);
    auto conv = [&](const Tensor& a, const Tensor& b) {
      return nn::conv2d(a, b, c.strides, c.padding, {.dilations = c.dilations});
    };
    Tensor x32 = cast(x, float32), w32 = cast(w, float32);
    expect_near(conv(x32, w32), conv(x, w), 1e-4);
    Gradients wide = gradients(x, w, conv), narrow = gradients(x32, w32, conv);
    expect_near(narrow.image, wide.image, 1e-3);
    expect_near(narrow.filter, wide.filter, 1e-3);
  }
}

// Large enough for the gradient of a filter that goes line by line: lines inside of the image and
// beyond it, taps apart, maps that fill no panel, long lines, many channels.
TEST(Conv, GradientsOfLargeFiltersAgree) {
  struct Case {
    Shape image, filter;
    Sizes strides, dilations;
    nn::Padding padding;
  };
  for (const Case& c :
       {Case{{4, 26, 26, 32}, {3, 3, 32, 64}, 1, 1, "VALID"},
        Case{{2, 23, 29, 40}, {3, 5, 40, 45}, 1, 1, "SAME"},
        Case{{9, 31, 27, 24}, {5, 5, 24, 32}, Sizes{2, 2}, 1, "SAME"},
        Case{{3, 33, 30, 20}, {3, 3, 20, 80}, 1, 2, "SAME"},
        Case{{1, 5, 300, 16}, {3, 7, 16, 80}, 1, 1, {{0, 0}, {2, 0}, {1, 6}, {0, 0}}},
        Case{{1, 9, 8, 160}, {3, 3, 160, 480}, 1, 1, "SAME"}}) {
    Tensor x = noise<double>(c.image, 1), w = noise<double>(c.filter, 2);
    auto conv = [&](const Tensor& a, const Tensor& b) {
      return nn::conv2d(a, b, c.strides, c.padding, {.dilations = c.dilations});
    };
    expect_near(gradients(cast(x, float32), cast(w, float32), conv).filter,
                gradients(x, w, conv).filter, 1e-3);
  }
  Tensor x = noise<double>({2, 7, 9, 10, 20}, 1), w = noise<double>({2, 3, 3, 20, 80}, 2);
  auto conv = [&](const Tensor& a, const Tensor& b) { return nn::conv3d(a, b, 1, "SAME"); };
  expect_near(gradients(cast(x, float32), cast(w, float32), conv).filter,
              gradients(x, w, conv).filter, 1e-3);
}

// Tiles of 4x4 that end inside of the result and beyond it, zeros on each side, channels that fill
// no panel, more tiles than a block, images of which each is one tile.
TEST(Conv, WinogradAgreesWithTheDefinition) {
  struct Case {
    Shape image, filter;
    nn::Padding padding;
  };
  for (const Case& c : {Case{{4, 26, 26, 32}, {3, 3, 32, 64}, "VALID"},
                        Case{{5, 23, 29, 20}, {3, 3, 20, 36}, "SAME"},
                        Case{{1, 41, 43, 16}, {3, 3, 16, 68}, {{0, 0}, {2, 1}, {0, 2}, {0, 0}}},
                        Case{{5, 21, 22, 28}, {3, 3, 28, 44}, {{0, 0}, {0, 2}, {1, 0}, {0, 0}}},
                        Case{{110, 4, 3, 24}, {3, 3, 24, 20}, "SAME"},
                        Case{{3, 24, 24, 16}, {3, 3, 16, 16}, {{0, 0}, {2, 2}, {2, 2}, {0, 0}}},
                        Case{{2, 30, 31, 160}, {3, 3, 160, 48}, "SAME"}}) {
    Tensor x = noise<double>(c.image, 1), w = noise<double>(c.filter, 2);
    auto conv = [&](const Tensor& a, const Tensor& b) { return nn::conv2d(a, b, 1, c.padding); };
    Tensor x32 = cast(x, float32), w32 = cast(w, float32);
    expect_near(conv(x32, w32), conv(x, w), 3e-4);
    Gradients wide = gradients(x, w, conv), narrow = gradients(x32, w32, conv);
    expect_near(narrow.image, wide.image, 3e-4);
    expect_near(narrow.filter, wide.filter, 1e-3);
  }
}

// By itself an infinite number would make its whole tile NaN.
TEST(Conv, WhatIsNotFiniteReachesWhatTheDefinitionSays) {
  Tensor x = noise<double>({4, 26, 26, 32}, 1), w = noise<double>({3, 3, 32, 64}, 2);
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (int64_t at : {0, 26 * 32 * 9 + 32 * 9 + 3, 3 * 26 * 26 * 32 + 26 * 32 * 25 + 32 * 25})
    x.mutable_raw<double>()[at] = at ? inf : -inf;
  x.mutable_raw<double>()[26 * 26 * 32 * 2 + 26 * 32 * 13] = std::nan("");
  auto conv = [&](const Tensor& a, const Tensor& b) { return nn::conv2d(a, b, 1, "SAME"); };
  auto same = [](const Tensor& narrow, const Tensor& wide) {
    auto a = narrow.to_vector<float>();
    auto b = wide.to_vector<double>();
    int64_t odd = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      odd += !std::isfinite(b[i]);
      if (std::isfinite(b[i]))
        ASSERT_NEAR(a[i], b[i], 1e-3) << "at " << i;
      else
        ASSERT_EQ(std::isnan(a[i]) ? 0 : a[i], std::isnan(b[i]) ? 0 : b[i]) << "at " << i;
    }
    EXPECT_GT(odd, 0);
    EXPECT_LT(odd, wide.size());
  };
  Tensor x32 = cast(x, float32), w32 = cast(w, float32);
  same(conv(x32, w32), conv(x, w));
  same(gradients(x32, w32, conv).filter, gradients(x, w, conv).filter);
  // And on the way back: maps that are not finite.
  auto back = [&](const Tensor& image, const Tensor& filter, const Tensor& maps) {
    GradientTape tape;
    tape.watch(image);
    Tensor loss = reduce_sum(conv(image, filter) * maps);
    tape.stop();
    return tape.gradients({loss}, {image})[0].dense;
  };
  Tensor maps = noise<double>({4, 26, 26, 64}, 3), image = noise<double>({4, 26, 26, 32}, 4);
  maps.mutable_raw<double>()[26 * 64 * 11 + 64 * 6] = inf;
  same(back(cast(image, float32), w32, cast(maps, float32)), back(image, w, maps));
}

// Many channels: one piece of the batch, whose sums are cut by channels.
TEST(Conv, BitsOfWinogradDoNotDependOnThreads) {
  for (int64_t channels : {32, 144}) {
    Tensor x = noise({12, 14, 14, channels}, 1), w = noise({3, 3, channels, 64}, 2);
    auto conv = [&](const Tensor& a, const Tensor& b) { return nn::conv2d(a, b, 1, "SAME"); };
    std::vector<std::vector<float>> seen[3];
    for (int threads : {1, 2, 3}) {
      set_num_threads(threads);
      Gradients g = gradients(x, w, conv);
      seen[0].push_back(conv(x, w).to_vector<float>());
      seen[1].push_back(g.image.to_vector<float>());
      seen[2].push_back(g.filter.to_vector<float>());
    }
    set_num_threads(0);
    for (auto& runs : seen)
      for (auto& run : runs) EXPECT_EQ(run, runs[0]);
  }
}

TEST(Conv, DeterministicModeGivesTheSameBitsForAnyNumberOfThreads) {
  Tensor x = noise({12, 14, 14, 32}, 1), w = noise({3, 3, 32, 64}, 2);
  auto conv = [&](const Tensor& a, const Tensor& b) { return nn::conv2d(a, b, 1, "SAME"); };
  set_deterministic(true);
  std::vector<std::vector<float>> seen[3];
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    Gradients g = gradients(x, w, conv);
    seen[0].push_back(conv(x, w).to_vector<float>());
    seen[1].push_back(g.image.to_vector<float>());
    seen[2].push_back(g.filter.to_vector<float>());
  }
  set_num_threads(0);
  set_deterministic(false);
  for (auto& runs : seen)
    for (auto& run : runs) EXPECT_EQ(run, runs[0]);
}

TEST(Conv, EmptyBatchesGiveEmptyResultsAndZeroGradients) {
  Tensor x = noise({0, 5, 5, 2}), w = noise({3, 3, 2, 4});
  auto conv = [&](const Tensor& a, const Tensor& b) { return nn::conv2d(a, b, 1, "SAME"); };
  EXPECT_EQ(conv(x, w).shape(), (Shape{0, 5, 5, 4}));
  for (float v : gradients(x, w, conv).filter.to_vector<float>()) EXPECT_EQ(v, 0);
}

TEST(Conv, LeadingAxesAreAllBatch) {
  EXPECT_EQ(nn::conv2d(noise({2, 3, 5, 5, 2}), noise({3, 3, 2, 4}), 1, "VALID").shape(),
            (Shape{2, 3, 3, 3, 4}));
}

TEST(Conv, TransposeTakesSpatialSizesAloneOrABatchLeftOpen) {
  Tensor x = noise({1, 4, 4, 2}), w = noise({3, 3, 5, 2});
  for (const Sizes& shape : {Sizes{1, 8, 8, 5}, Sizes{-1, 8, 8, 5}, Sizes{8, 8}})
    EXPECT_EQ(nn::conv2d_transpose(x, w, shape, 2).shape(), (Shape{1, 8, 8, 5}));
  EXPECT_EQ(code_of([&] { nn::conv2d_transpose(x, w, {1, 9, 8, 5}, 2); }), Code::E1102);
  EXPECT_EQ(nn::conv1d_transpose(noise({1, 4, 2}), noise({3, 5, 2}), {1, 8, 5}, 2).shape(),
            (Shape{1, 8, 5}));
}

TEST(Conv, RefusesWhatDoesNotFit) {
  Tensor x = noise({1, 4, 4, 4}), w = noise({3, 3, 4, 4});
  EXPECT_EQ(code_of([&] { nn::conv2d(x, noise({3, 3, 3, 4}), 1, "SAME"); }),
            Code::E1102);  // channels
  EXPECT_EQ(code_of([&] { nn::conv2d(x, noise({3, 3, 2, 3}), 1, "SAME"); }),
            Code::E1102);  // groups
  EXPECT_EQ(code_of([&] { nn::conv2d(x, noise({0, 3, 4, 4}), 1, "SAME"); }),
            Code::E1102);  // an empty filter
  EXPECT_EQ(code_of([&] { nn::conv2d(noise({1, 4, 4, 0}), w, 1, "SAME"); }),
            Code::E1102);  // no channels
  EXPECT_EQ(code_of([&] { nn::conv2d(noise({4, 4, 4}), w, 1, "SAME"); }), Code::E1102);  // rank
  EXPECT_EQ(code_of([&] { nn::conv2d(noise({1, 2, 2, 4}), w, 1, "VALID"); }),
            Code::E1102);  // a window too large
  for (const Sizes& s : {Sizes(0), Sizes(-1), Sizes{1, 1, 1}, Sizes(int64_t{1} << 40)})
    EXPECT_EQ(code_of([&] { nn::conv2d(x, w, s, "SAME"); }), Code::E1103);
  EXPECT_EQ(code_of([&] { nn::conv2d(x, w, {2, 1, 1, 1}, "SAME"); }),
            Code::E1105);  // strides over the batch
  EXPECT_EQ(code_of([&] { nn::conv2d(x, w, 1, "same"); }), Code::E1103);
  EXPECT_EQ(code_of([&] { nn::conv2d(x, w, 1, "SAME", {.data_format = "NWC"}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { nn::conv2d(x, w, 1, {{1, 1}, {1, 1}}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { nn::conv2d(x, w, 1, {{0, 0}, {-1, 1}, {0, 0}, {0, 0}}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { nn::conv2d(x, w, 1, "VALID", {.dilations = Sizes(int64_t{1} << 30)}); }),
            Code::E1102);
  EXPECT_EQ(code_of([&] { nn::depthwise_conv2d(x, noise({3, 3, 2, 1}), 1, "SAME"); }), Code::E1102);
}

TEST(Bias, BelongsToTheLastAxisOrTheSecond) {
  Tensor x = ones({2, 3, 3}), bias = Tensor::of<float>({1, 2, 3});
  EXPECT_EQ(nn::bias_add(x, bias).data<float>()[1], 3);
  EXPECT_EQ(nn::bias_add(x, bias, {.data_format = "NCW"}).data<float>()[3], 3);
  EXPECT_EQ(code_of([&] { nn::bias_add(x, bias, {.data_format = "FOO"}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { nn::bias_add(x, ones({4})); }), Code::E1102);
  EXPECT_EQ(code_of([&] { nn::bias_add(ones({3}), bias); }), Code::E1102);
}

}  // namespace
}  // namespace holdfast
