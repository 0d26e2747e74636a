#include <algorithm>
#include <cmath>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/pooling.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::nn {
namespace {

enum LrnAttr { kRadius, kBias, kAlpha, kBeta };

Status run_lrn(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  int64_t n = x.dim(-1), rows = n ? x.size() / n : 0, radius = std::min(c.attr(kRadius).i(), n);
  visit_floats(x.dtype(), [&]<class T>(T) {
    using W = float_of<T>;
    W bias = static_cast<W>(c.attr(kBias).f()), alpha = static_cast<W>(c.attr(kAlpha).f()),
      beta = static_cast<W>(c.attr(kBeta).f());
    parallel_for(rows, std::max<int64_t>(1, 4096 / std::max<int64_t>(n, 1)),
                 [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* from = x.data<T>() + r * n;
        T* to = y.mutable_data<T>() + r * n;
        for (int64_t i = 0; i < n; ++i) {
          W sum(0);
          for (int64_t k = std::max<int64_t>(0, i - radius); k < std::min(n, i + radius + 1); ++k)
            sum += static_cast<W>(from[k]) * static_cast<W>(from[k]);
          to[i] = static_cast<T>(static_cast<W>(from[i]) * std::pow(bias + alpha * sum, -beta));
        }
      }
    });
  });
  return {};
}

// Ones within `radius` of the diagonal: multiplied by it, a row holds sums over neighbouring
// channels.
Tensor band(const Tensor& x, int64_t radius) {
  int64_t n = x.dim(-1);
  if (n < 0) throw NotKnownYet{};
  std::vector<float> ones(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k)
      ones[static_cast<size_t>(i * n + k)] = std::abs(i - k) <= radius ? 1.0f : 0.0f;
  return cast(Tensor::of<float>(ones, Shape{n, n}), x.dtype());
}

}  // namespace

static const Op op =
    OP(LRN, &local_response_normalization)
        .args("input")
        .options<&LocalResponseOptions::depth_radius, &LocalResponseOptions::bias,
                 &LocalResponseOptions::alpha, &LocalResponseOptions::beta>(
            "depth_radius, bias, alpha, beta")
        .python("nn.local_response_normalization, nn.lrn")
        .dtypes(kFloats)
        .doc(
            "input / (bias + alpha * the sum of squares over the channels within `depth_radius`) "
            "** beta.")
        .infer(+[](Infer& s) {
  s.need_rank(0, 4, 4);
  if (s.attr(kRadius).i() < 0) s.bad_value("depth_radius", cat(s.attr(kRadius).i()), "0 or more");
  s.output(s.dtype(), s.shape());
})
        .kernel("reference", run_lrn)
        .gradient(+[](Grad& g) -> Tensors {
  double bias = g.attr(kBias).f(), alpha = g.attr(kAlpha).f(), beta = g.attr(kBeta).f();
  Tensor x = g.x(), dy = g.dy(), near = band(x, g.attr(kRadius).i());
  auto sum = [&](const Tensor& t) {
    return reshape(matmul(reshape(t, {-1, x.dim(-1)}), near), shape(x));
  };
  Tensor norm = bias + alpha * sum(square(x)), scaled = dy * pow(norm, -beta);
  return {scaled - 2 * alpha * beta * x * sum(scaled * x / norm)};
})
        .keeps("input")
        .samples("uniform(2, 3, 2, 7)",
                 "uniform(1, 2, 3, 5), depth_radius=1, bias=2.0, alpha=0.5, beta=0.75")
        .reference(
            "input / (bias + alpha * np.square(input) @ "
            "(abs(np.subtract.outer(np.arange(input.shape[-1]), "
            "np.arange(input.shape[-1]))) <= depth_radius)) ** beta");
Tensor local_response_normalization(const In& x, const LocalResponseOptions& o) {
  return op({x}, {o.depth_radius, o.bias, o.alpha, o.beta});
}

}  // namespace holdfast::nn
