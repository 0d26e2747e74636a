// What reductions, scans, segments, sorting, losses and normalisation promise beyond the sweep over
// samples.
#include "holdfast/ops/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/parallel.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/losses.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/normalization.h"
#include "holdfast/ops/sort.h"

namespace holdfast {
namespace {

using V = std::vector<float>;
using VI = std::vector<int32_t>;
using VL = std::vector<int64_t>;
constexpr float kInf = std::numeric_limits<float>::infinity(),
                kNan = std::numeric_limits<float>::quiet_NaN();

Tensor vec(V v) { return Tensor::of<float>(v, {static_cast<int64_t>(v.size())}); }
Tensor ivec(VI v) { return Tensor::of<int32_t>(v, {static_cast<int64_t>(v.size())}); }
Tensor mat(V v, int64_t rows) {
  return Tensor::of<float>(v, {rows, static_cast<int64_t>(v.size()) / rows});
}
V values(const Tensor& t) { return t.to_vector<float>(); }

Tensor noise(Shape shape, int seed = 1) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> draw(-1, 1);
  V v(static_cast<size_t>(shape.size()));
  for (float& x : v) x = draw(random);
  return Tensor::of<float>(v, shape);
}

Code code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return Code::E1599;
}

void expect_near(const Tensor& got, const V& want, double tolerance = 1e-5) {
  V v = values(got);
  ASSERT_EQ(v.size(), want.size());
  for (size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], want[i], tolerance) << "at " << i;
}

TEST(Reduce, EveryLayoutOfAxesSumsWhatPlainLoopsSum) {
  Shape shape{3, 5, 2, 7, 4};
  Tensor x = noise(shape);
  for (unsigned mask = 0; mask < 32; ++mask) {
    Ints axes;
    Dims kept;
    for (int i = 0; i < 5; ++i)
      (mask >> i & 1 ? (axes.push_back(i), 0) : (kept.push_back(shape[i]), 0));
    std::vector<double> sums(static_cast<size_t>(Shape(kept).size()), 0);
    V most(sums.size(), -kInf), in = values(x);
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t left = i, at = 0, stride = 1;
      for (int k = 4; k >= 0; --k) {
        if (!(mask >> k & 1)) {
          at += left % shape[k] * stride;
          stride *= shape[k];
        }
        left /= shape[k];
      }
      float v = in[static_cast<size_t>(i)];
      sums[static_cast<size_t>(at)] += v;
      most[static_cast<size_t>(at)] = std::max(most[static_cast<size_t>(at)], v);
    }
    EXPECT_EQ(values(reduce_max(x, {.axis = Sizes(axes)})), most) << mask;
    expect_near(reduce_sum(x, {.axis = Sizes(axes)}), V(sums.begin(), sums.end()), 1e-4);
  }
}

TEST(Reduce, LongSumsOfFloat32StayAccurate) {
  Tensor x = fill({3000, 1000}, 0.1f);
  EXPECT_NEAR(reduce_sum(x).item<float>(), 300000, 0.1);
  for (float v : values(reduce_sum(x, {.axis = 0}))) EXPECT_NEAR(v, 300, 1e-3);
  for (float v : values(reduce_mean(x, {.axis = 1}))) EXPECT_NEAR(v, 0.1, 1e-7);
  EXPECT_EQ(static_cast<float>(reduce_sum(cast(fill({4096}, 1), float16)).item<half>()), 4096);
}

TEST(Reduce, TheNumberOfThreadsChangesNoBit) {
  Tensor x = noise({517, 1031});
  std::vector<V> seen;
  for (int threads : {1, 2, 8}) {
    set_num_threads(threads);
    V all;
    for (const Tensor& t :
         {reduce_sum(x), reduce_sum(x, {.axis = 0}), reduce_mean(x, {.axis = 1}),
          reduce_prod(x + 1.0f, {.axis = 0}), nn::softmax(x),
          nn::layer_normalization(x, noise({1031}), noise({1031})), cumsum(x, {.axis = 1})})
      for (float v : values(t)) all.push_back(v);
    seen.push_back(all);
  }
  set_num_threads(0);
  EXPECT_EQ(0, std::memcmp(seen[0].data(), seen[1].data(), seen[0].size() * 4));
  EXPECT_EQ(0, std::memcmp(seen[0].data(), seen[2].data(), seen[0].size() * 4));
}

TEST(Reduce, NothingFoldsToTheIdentity) {
  Tensor none = zeros({2, 0});
  EXPECT_EQ(values(reduce_sum(none, {.axis = 1})), (V{0, 0}));
  EXPECT_EQ(values(reduce_prod(none, {.axis = 1})), (V{1, 1}));
  EXPECT_EQ(values(reduce_max(none, {.axis = 1})), (V{-kInf, -kInf}));
  EXPECT_EQ(values(reduce_min(none, {.axis = 1})), (V{kInf, kInf}));
  EXPECT_TRUE(std::isnan(reduce_mean(none).item<float>()));
  EXPECT_EQ(reduce_mean(zeros({0}, int32)).item<int32_t>(), 0);
  EXPECT_EQ(reduce_max(zeros({0}, int32)).item<int32_t>(), std::numeric_limits<int32_t>::lowest());
  EXPECT_TRUE(reduce_all(zeros({0}, boolean)).item<bool>());
  EXPECT_FALSE(reduce_any(zeros({0}, boolean)).item<bool>());
  EXPECT_EQ(reduce_logsumexp(zeros({0})).item<float>(), -kInf);
  EXPECT_EQ(reduce_sum(none, {.axis = 0}).shape(), Shape{0});
}

TEST(Reduce, IntegersFollowTensorFlow) {
  EXPECT_EQ(reduce_mean(ivec({-3, -4, 0})).item<int32_t>(), -2);
  int32_t top = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(reduce_mean(ivec({top, top, top, top})).item<int32_t>(), top);
  EXPECT_EQ(reduce_sum(ivec({top, 1})).item<int32_t>(), std::numeric_limits<int32_t>::lowest());
  EXPECT_EQ(reduce_euclidean_norm(ivec({1, 2, 3})).item<int32_t>(), 3);
  EXPECT_TRUE(std::isnan(reduce_max(vec({1, kNan, 2})).item<float>()));
  EXPECT_TRUE(std::isnan(reduce_min(mat({1, kNan, 2}, 3), {.axis = 0}).item<float>()));
}

TEST(Reduce, BadAxesAreRefused) {
  Tensor x = zeros({2, 3});
  EXPECT_EQ(code_of([&] { reduce_sum(x, {.axis = 2}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { reduce_sum(x, {.axis = Sizes({0, -2})}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { reduce_sum(zeros({2}, boolean)); }), Code::E1101);
  EXPECT_EQ(code_of([&] { reduce_max(zeros({2}, DType::kComplex64)); }), Code::E1101);
  EXPECT_EQ(code_of([&] { reduce_std(zeros({2}, int32)); }), Code::E1101);
  EXPECT_EQ(code_of([&] { argmax(zeros({0, 2})); }), Code::E1102);
  EXPECT_EQ(code_of([&] { argmax(3.0f); }), Code::E1103);
  EXPECT_EQ(code_of([&] { cumsum(1); }), Code::E1103);
}

TEST(Reduce, TiesShareTheGradientOfTheMaximum) {
  Tensor x = vec({1, 1, 0});
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(values(tape.gradient(reduce_max(x), x)), (V{0.5, 0.5, 0}));
}

TEST(Reduce, ProductsWithZerosHaveTheRightGradient) {
  for (auto [in, want] : std::vector<std::pair<V, V>>{
           {{2, 0, 3}, {0, 6, 0}}, {{0, 0, 3}, {0, 0, 0}}, {{2, 5, 3}, {15, 6, 10}}}) {
    Tensor x = vec(in);
    GradientTape tape;
    tape.watch(x);
    EXPECT_EQ(values(tape.gradient(reduce_prod(x), x)), want);
  }
}

TEST(Arg, TheFirstOfEqualsIsFoundAndNanNever) {
  EXPECT_EQ(argmax(Tensor::of<int32_t>(VI{1, 3, 3, 4, 1, 4}, {2, 3})).to_vector<int64_t>(),
            (VL{1, 0, 1}));
  EXPECT_EQ(argmax(vec({kNan, 1, kNan, 2})).item<int64_t>(), 3);
  EXPECT_EQ(argmin(vec({kNan, 1, kNan, 2})).item<int64_t>(), 1);
  EXPECT_EQ(argmax(vec({kNan, kNan})).item<int64_t>(), 0);
  EXPECT_EQ(argmax(vec({1, 2}), {.output_type = int32}).item<int32_t>(), 1);
}

TEST(Segment, GapsOrderAndBounds) {
  Tensor x = mat({1, 2, 3}, 3);
  EXPECT_EQ(values(segment_sum(x, ivec({0, 0, 3}))), (V{3, 0, 0, 3}));
  EXPECT_EQ(values(segment_prod(x, ivec({0, 0, 3}))), (V{2, 1, 1, 3}));
  EXPECT_EQ(values(segment_max(x, ivec({0, 0, 3}))), (V{2, 0, 0, 3}));
  EXPECT_EQ(segment_mean(ivec({1, 2, 4}), ivec({0, 0, 0})).to_vector<int32_t>(), VI{2});
  EXPECT_EQ(code_of([&] { segment_sum(x, ivec({1, 0, 3})); }), Code::E1103);
  EXPECT_EQ(code_of([&] { segment_sum(x, ivec({-1, 0, 3})); }), Code::E1103);
  EXPECT_EQ(code_of([&] { segment_sum(x, ivec({0, 1})); }), Code::E1102);
  EXPECT_EQ(code_of([&] { segment_sum(x, ivec({0, 1, std::numeric_limits<int32_t>::max()})); }),
            Code::E1103);
  EXPECT_EQ(values(unsorted_segment_max(vec({1, 2, 3}), ivec({0, 2, -1}), 4)),
            (V{1, std::numeric_limits<float>::lowest(), 2, std::numeric_limits<float>::lowest()}));
  EXPECT_EQ(code_of([&] { unsorted_segment_sum(vec({1, 2, 3}), ivec({0, 2, 4}), 4); }),
            Code::E1103);
  EXPECT_EQ(code_of([&] { unsorted_segment_sum(vec({1}), ivec({0}), -1); }), Code::E1103);
  EXPECT_EQ(unsorted_segment_mean(ivec({1, 2, 3}), ivec({0, 2, 2}), 3).to_vector<double>(),
            (std::vector<double>{1, 0, 2.5}));
}

TEST(Counts, BincountHistogramConfusion) {
  EXPECT_EQ(bincount(ivec({1, 2, 2, 5})).to_vector<int32_t>(), (VI{0, 1, 2, 0, 0, 1}));
  EXPECT_EQ(bincount(ivec({1, 2, 2, 7}), {.maxlength = Sizes(3)}).to_vector<int32_t>(),
            (VI{0, 1, 2}));
  EXPECT_EQ(
      bincount(Tensor::of<int32_t>(VI{1, 2, 2, 3}, {2, 2}), {.axis = -1}).to_vector<int32_t>(),
      (VI{0, 1, 1, 0, 0, 0, 1, 1}));
  EXPECT_EQ(bincount(ivec({})).size(), 0);
  EXPECT_EQ(code_of([] { bincount(ivec({-1, 2})); }), Code::E1103);
  EXPECT_EQ(histogram_fixed_width(vec({-1, 0, 1.5, 2, 5, 15}), vec({0, 5}), {.nbins = 5})
                .to_vector<int32_t>(),
            (VI{2, 1, 1, 0, 2}));
  EXPECT_EQ(code_of([] { histogram_fixed_width(vec({kNan}), vec({0, 5})); }), Code::E1103);
  EXPECT_EQ(code_of([] { histogram_fixed_width(vec({1}), vec({5, 5})); }), Code::E1103);
  EXPECT_EQ(code_of([] { histogram_fixed_width(vec({1}), vec({0, 5}), {.nbins = 0}); }),
            Code::E1103);
  EXPECT_EQ(confusion_matrix(ivec({1, 2}), ivec({2, 2})).to_vector<int32_t>(),
            (VI{0, 0, 0, 0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(
      code_of([] { confusion_matrix(ivec({1, 5}), ivec({2, 2}), {.num_classes = Sizes(3)}); }),
      Code::E1103);
}

TEST(Sort, OrderTiesAndNan) {
  EXPECT_EQ(argsort(ivec({3, 1, 3, 1})).to_vector<int32_t>(), (VI{1, 3, 0, 2}));
  EXPECT_EQ(argsort(ivec({3, 1, 3, 1}), {.direction = "DESCENDING"}).to_vector<int32_t>(),
            (VI{0, 2, 1, 3}));
  EXPECT_TRUE(std::isnan(values(sort(vec({3, kNan, 1, 2})))[3]));
  EXPECT_EQ(values(sort(mat({3, 1, 2, 4}, 2), {.axis = 0})), (V{2, 1, 3, 4}));
  EXPECT_EQ(code_of([] { sort(vec({1}), {.direction = "x"}); }), Code::E1103);
  EXPECT_EQ(code_of([] { sort(1.0f); }), Code::E1103);
  auto [top, at] = top_k(ivec({1, 3, 3, 2}), {.k = 3});
  EXPECT_EQ(top.to_vector<int32_t>(), (VI{3, 3, 2}));
  EXPECT_EQ(at.to_vector<int32_t>(), (VI{1, 2, 3}));
  EXPECT_EQ(code_of([] { top_k(ivec({1}), {.k = 2}); }), Code::E1103);
  EXPECT_EQ(code_of([] { top_k(ivec({1}), {.k = -1}); }), Code::E1103);
  EXPECT_EQ(
      searchsorted(ivec({1, 3, 5}), ivec({0, 1, 2, 5, 6}), {.side = "right"}).to_vector<int32_t>(),
      (VI{0, 1, 1, 3, 3}));
  auto [distinct, which, count] = unique_with_counts(ivec({1, 1, 2, 4, 4, 1}));
  EXPECT_EQ(distinct.to_vector<int32_t>(), (VI{1, 2, 4}));
  EXPECT_EQ(which.to_vector<int32_t>(), (VI{0, 0, 1, 2, 2, 0}));
  EXPECT_EQ(count.to_vector<int32_t>(), (VI{3, 1, 2}));
}

TEST(Sort, GradientsGoBackToTheirPlaces) {
  Tensor x = mat({3, 1, 2, 4}, 2);
  GradientTape tape;
  tape.watch(x);
  Tensor y = sort(x, {.axis = 0}) * mat({1, 2, 3, 4}, 2);
  EXPECT_EQ(values(tape.gradient(y, x)), (V{3, 2, 1, 4}));
}

TEST(Losses, LabelsOutOfRangeAreRefused) {
  Tensor x = mat({1, 2, 3, 4}, 2);
  EXPECT_EQ(code_of([&] { nn::sparse_softmax_cross_entropy_with_logits(ivec({0, 5}), x); }),
            Code::E1103);
  EXPECT_EQ(code_of([&] { nn::sparse_softmax_cross_entropy_with_logits(ivec({0, -1}), x); }),
            Code::E1103);
  EXPECT_EQ(code_of([&] { nn::sparse_softmax_cross_entropy_with_logits(ivec({0}), x); }),
            Code::E1102);
  expect_near(nn::softmax_cross_entropy_with_logits(mat({0, 1}, 1), mat({1, 1, 2, 1}, 2)),
              {0.6931472f, 1.3132616f});
  expect_near(nn::softmax(mat({1, 2, 3, 4}, 2), {.axis = 0}),
              {0.1192029f, 0.1192029f, 0.880797f, 0.880797f});
}

TEST(Normalization, FusedBatchNormGivesTensorFlowsNumbers) {
  V v(12);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i);
  Tensor x = Tensor::of<float>(v, {1, 2, 2, 3});
  auto [y, mean, variance] =
      nn::fused_batch_norm(x, vec({1, 2, 3}), vec({0, 0, 1}), {.epsilon = 1e-4});
  expect_near(y, {-1.3416348f, -2.6832695f, -3.0249043f, -0.4472116f, -0.8944232f, -0.34163475f,
                  0.4472116f, 0.8944232f, 2.3416348f, 1.3416348f, 2.6832695f, 5.0249043f});
  expect_near(mean, {4.5, 5.5, 6.5});
  expect_near(variance, {15, 15, 15});
  auto first = transpose(x, {.perm = Sizes({0, 3, 1, 2})});
  auto [z, m, s] = nn::fused_batch_norm(first, vec({1, 2, 3}), vec({0, 0, 1}),
                                        {.epsilon = 1e-4, .data_format = "NCHW"});
  expect_near(transpose(z, {.perm = Sizes({0, 2, 3, 1})}), values(y));
  EXPECT_EQ(code_of([&] { nn::fused_batch_norm(x, vec({1, 2}), vec({0, 0, 1})); }), Code::E1102);
  EXPECT_EQ(code_of([&] {
              nn::fused_batch_norm(x, vec({1, 2, 3}), vec({0, 0, 1}), {.data_format = "CHWN"});
            }),
            Code::E1103);
  EXPECT_EQ(code_of([&] {
              nn::fused_batch_norm(x, vec({1, 2, 3}), vec({0, 0, 1}), {.is_training = false});
            }),
            Code::E1103);
}

// Derivatives of both orders of a fused op against those of the same formula written with ops.
void expect_same_derivatives(const Tensor& x, const Tensor& scale,
                             const std::function<Tensor()>& plain,
                             const std::function<Tensor()>& fused) {
  Tensor a = noise(x.shape(), 6), b = noise(x.shape(), 7), c = noise(scale.shape(), 8);
  auto derivatives = [&](const std::function<Tensor()>& f) {
    GradientTape outer({.persistent = true});
    outer.watch(x);
    outer.watch(scale);
    std::vector<Gradient> first;
    {
      GradientTape inner;
      inner.watch(x);
      inner.watch(scale);
      first = inner.gradients({f() * a}, {x, scale});
    }
    Tensor loss = reduce_sum(first[0].dense * b) + reduce_sum(first[1].dense * c);
    std::vector<V> out{values(first[0].dense), values(first[1].dense)};
    for (const Gradient& g : outer.gradients({loss}, {x, scale})) out.push_back(values(g.dense));
    return out;
  };
  auto want = derivatives(plain), got = derivatives(fused);
  for (size_t k = 0; k < want.size(); ++k)
    for (size_t i = 0; i < want[k].size(); ++i)
      EXPECT_NEAR(want[k][i], got[k][i], 2e-3) << "derivative " << k << " at " << i;
}

TEST(Normalization, LayerNormHasTheDerivativesOfItsFormula) {
  Tensor x = noise({4, 5}, 3), scale = noise({5}, 4), offset = noise({5}, 5);
  expect_same_derivatives(
      x, scale,
      [&] {
        Tensor away = x - reduce_mean(x, {.axis = 1, .keepdims = true});
        return away * rsqrt(reduce_mean(away * away, {.axis = 1, .keepdims = true}) + 0.1f) *
                   scale +
               offset;
      },
      [&] { return nn::layer_normalization(x, scale, offset, {.epsilon = 0.1}); });
}

TEST(Normalization, FusedBatchNormHasTheDerivativesOfItsFormula) {
  for (const char* format : {"NHWC", "NCHW"}) {
    bool first = std::string(format) == "NCHW";
    Tensor x = noise(first ? Shape{2, 4, 3, 2} : Shape{2, 3, 2, 4}, 3), scale = noise({4}, 4),
           offset = noise({4}, 5);
    Sizes axes = first ? Sizes({0, 2, 3}) : Sizes({0, 1, 2}),
          across = first ? Sizes({1, 4, 1, 1}) : Sizes({1, 1, 1, 4});
    expect_same_derivatives(
        x, scale,
        [&] {
          Tensor away = x - reduce_mean(x, {.axis = axes, .keepdims = true});
          return away * rsqrt(reduce_mean(away * away, {.axis = axes, .keepdims = true}) + 0.1f) *
                     reshape(scale, across) +
                 reshape(offset, across);
        },
        [&] {
          return std::get<0>(
              nn::fused_batch_norm(x, scale, offset, {.epsilon = 0.1, .data_format = format}));
        });
    Tensor mean = noise({4}, 9), variance = square(noise({4}, 10));
    expect_same_derivatives(
        x, scale,
        [&] {
          return (x - reshape(mean, across)) * reshape(rsqrt(variance + 0.1f) * scale, across) +
                 reshape(offset, across);
        },
        [&] {
          return std::get<0>(nn::fused_batch_norm(x, scale, offset,
                                                  {.mean = mean,
                                                   .variance = variance,
                                                   .epsilon = 0.1,
                                                   .data_format = format,
                                                   .is_training = false}));
        });
  }
}

TEST(Losses, CrossEntropiesHaveTheDerivativesOfTheirFormula) {
  Tensor x = noise({4, 5}, 3), scale = noise({5}, 4), labels = nn::softmax(noise({4, 5}, 5));
  // `a` weighs rows unevenly through the broadcast of the loss over columns.
  expect_same_derivatives(
      x, scale,
      [&] {
        return expand_dims(-reduce_sum(labels * nn::log_softmax(x * scale), {.axis = 1}), 1) +
               zeros_like(x);
      },
      [&] {
        return expand_dims(nn::softmax_cross_entropy_with_logits(labels, x * scale), 1) +
               zeros_like(x);
      });
  Tensor classes = ivec({0, 4, 2, 2});
  expect_same_derivatives(
      x, scale,
      [&] {
        return expand_dims(
                   -reduce_sum(one_hot(classes, 5) * nn::log_softmax(x * scale), {.axis = 1}), 1) +
               zeros_like(x);
      },
      [&] {
        return expand_dims(nn::sparse_softmax_cross_entropy_with_logits(classes, x * scale), 1) +
               zeros_like(x);
      });
}

TEST(Norms, ClippingScalesDownOnly) {
  expect_near(clip_by_norm(vec({3, 4}), 2.0f), {1.2f, 1.6f});
  expect_near(clip_by_norm(vec({0, 0}), 2.0f), {0, 0});
  Tensors clipped = clip_by_global_norm({vec({3, 4}), vec({0})}, 2.0f);
  expect_near(clipped[0], {1.2f, 1.6f});
  EXPECT_FLOAT_EQ(clipped[2].item<float>(), 5);
}

// Many rows are computed by machine code, few by loops.
TEST(Softmax, ARowHasTheSameBitsAmongManyAndAmongFew) {
  for (DType d : {float32, float64})
    for (int64_t n : {1, 7, 64, 100, 257, 1000, 1024, 1030}) {
      int64_t rows = (int64_t{1} << 18) / n + 3;
      Tensor x = cast(noise({rows, n}, 11) * 8.0f, d);
      if (d == float32) {
        x.mutable_raw<float>()[0] = kInf;  // its row becomes NaN
        x.mutable_raw<float>()[2 * n - 1] = -kInf;
      }
      Tensor many = nn::softmax(x), few = nn::softmax(view_of(x, {3, n}));
      auto row = static_cast<size_t>(n * size_of(d));
      EXPECT_EQ(std::memcmp(static_cast<const char*>(many.raw()) + row,
                            static_cast<const char*>(few.raw()) + row, 2 * row),
                0)
          << "rows of " << n << " of " << name(d);
      if (d == float32) {
        EXPECT_TRUE(std::isnan(many.raw<float>()[0]));
      }
    }
}

TEST(Reduce, ExtremesOfColumnsAndRowsAreThoseOfTheirElements) {
  std::mt19937 random(5);
  for (int64_t rows : {1, 5, 8, 21, 64})
    for (int64_t width : {1, 3, 16, 31, 33, 40, 130}) {
      std::vector<float> v(static_cast<size_t>(rows * width));
      for (float& x : v) {
        int kind = static_cast<int>(random() % 40);
        x = kind == 0   ? kNan
            : kind == 1 ? -kInf
            : kind == 2 ? kInf
            : kind < 20 ? 0.0f * (kind % 2 ? 1.0f : -1.0f)
                        : std::uniform_real_distribution<float>(-1, 1)(random);
      }
      Tensor x = empty(float32, {rows, width}, cpu());
      std::copy(v.begin(), v.end(), x.mutable_raw<float>());
      for (bool most : {false, true})
        for (int64_t axis : {0, 1}) {
          auto got = (most ? reduce_max(x, {.axis = axis}) : reduce_min(x, {.axis = axis}))
                         .to_vector<float>();
          for (size_t i = 0; i < got.size(); ++i) {
            float want = most ? -kInf : kInf;
            for (int64_t k = 0; k < (axis ? width : rows); ++k) {
              auto at =
                  axis ? static_cast<int64_t>(i) * width + k : k * width + static_cast<int64_t>(i);
              float e = v[static_cast<size_t>(at)];
              want = std::isnan(want) || std::isnan(e) ? kNan
                     : most                            ? std::max(want, e)
                                                       : std::min(want, e);
            }
            EXPECT_TRUE(got[i] == want || (std::isnan(got[i]) && std::isnan(want)))
                << rows << " x " << width << ", axis " << axis << ": " << got[i] << ", " << want;
          }
        }
    }
}

}  // namespace
}  // namespace holdfast
