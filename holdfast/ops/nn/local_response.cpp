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

struct LrnAttrs {
  Attr<int64_t> depth_radius;
  Attr<double> bias;
  Attr<double> alpha;
  Attr<double> beta;
};

Status run_lrn(Call& c) {
  auto a = c.attrs<LrnAttrs>();
  const Tensor& x = c.in();
  Tensor& y = c.out();
  int64_t n = x.dim(-1), rows = n ? x.size() / n : 0, radius = std::min(a.depth_radius(), n);
  visit_floats(x.dtype(), [&]<class T>(T) {
    using W = float_of<T>;
    W bias = static_cast<W>(a.bias()), alpha = static_cast<W>(a.alpha()),
      beta = static_cast<W>(a.beta());
    parallel_for(
        rows, std::max<int64_t>(1, 4096 / std::max<int64_t>(n, 1)),
        [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            const T* from = x.raw<T>() + r * n;
            T* to = y.mutable_raw<T>() + r * n;
            for (int64_t i = 0; i < n; ++i) {
              W sum(0);
              for (int64_t k = std::max<int64_t>(0, i - radius); k < std::min(n, i + radius + 1);
                   ++k)
                sum += static_cast<W>(from[k]) * static_cast<W>(from[k]);
              to[i] = static_cast<T>(static_cast<W>(from[i]) * std::pow(bias + alpha * sum, -beta));
            }
          }
        });
  });
  return {};
}

// With s = bias + alpha * (squares near i): dx[i] = dy[i] s[i]^-beta - 2 alpha beta x[i] (the sum
// of dy[k] x[k] s[k]^(-beta - 1) near i).
Status run_lrn_grad(Call& c) {
  auto a = c.attrs<LrnAttrs>();
  const Tensor &dy = c.in(0), &x = c.in(1);
  Tensor& dx = c.out();
  int64_t n = x.dim(-1), rows = n ? x.size() / n : 0, radius = std::min(a.depth_radius(), n);
  visit_floats(x.dtype(), [&]<class T>(T) {
    using W = float_of<T>;
    W bias = static_cast<W>(a.bias()), alpha = static_cast<W>(a.alpha()),
      beta = static_cast<W>(a.beta());
    parallel_for(
        rows, std::max<int64_t>(1, 4096 / std::max<int64_t>(n, 1)),
        [&](int64_t begin, int64_t end) {
          std::vector<W> scaled(static_cast<size_t>(n)), part(static_cast<size_t>(n));
          auto near = [&](int64_t i, auto&& value) {
            W sum(0);
            for (int64_t k = std::max<int64_t>(0, i - radius); k < std::min(n, i + radius + 1); ++k)
              sum += value(k);
            return sum;
          };
          for (int64_t r = begin; r < end; ++r) {
            auto at = [&](const Tensor& t, int64_t k) {
              return static_cast<W>(t.raw<T>()[r * n + k]);
            };
            for (int64_t i = 0; i < n; ++i) {
              W norm = bias + alpha * near(i, [&](int64_t k) { return at(x, k) * at(x, k); });
              auto k = static_cast<size_t>(i);
              scaled[k] = at(dy, i) * std::pow(norm, -beta);
              part[k] = scaled[k] * at(x, i) / norm;
            }
            for (int64_t i = 0; i < n; ++i) {
              W sum = near(i, [&](int64_t k) { return part[static_cast<size_t>(k)]; });
              dx.mutable_raw<T>()[r * n + i] = static_cast<T>(scaled[static_cast<size_t>(i)] -
                                                              2 * alpha * beta * at(x, i) * sum);
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

// What flows back through LRN.
Tensor lrn_back(const Tensor& x, const Tensor& dy, const Arg& radius, double bias, double alpha,
                double beta) {
  Tensor near = band(x, radius.i());
  auto sum = [&](const Tensor& t) {
    return reshape(matmul(reshape(t, {-1, x.dim(-1)}), near), shape(x));
  };
  Tensor norm = bias + alpha * sum(square(x)), scaled = dy * pow(norm, -beta);
  return scaled - 2 * alpha * beta * x * sum(scaled * x / norm);
}

// The same as a raw op, for programs that write the gradient themselves.
const Op grad_op =
    RAW_OP(LRNGrad)
        .inputs("input_grads, input_image, output_image")
        .dtypes(kFloats)
        .attr("depth_radius", 5)
        .attr("bias", 1.0)
        .attr("alpha", 1.0)
        .attr("beta", 0.5)
        .attrs<&LrnAttrs::depth_radius, &LrnAttrs::bias, &LrnAttrs::alpha, &LrnAttrs::beta>()
        .doc("Gradient of LRN.")
        .infer(+[](Infer& s) {
          if (s.attrs<LrnAttrs>().depth_radius() < 0)
            s.bad_value("depth_radius", cat(s.attrs<LrnAttrs>().depth_radius()), "0 or more");
          for (int i = 0; i < 3; ++i) {
            s.need_rank(i, 4, 4);
            if (!s.shape(i).compatible(s.shape(0)))
              s.bad_shape(i, cat("shape ", s.shape(0).text(), ", that of `input_grads`"));
          }
          s.output(s.dtype(), s.shape(1));
        })
        .kernel("reference", run_lrn_grad);

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
        .attrs<&LrnAttrs::depth_radius, &LrnAttrs::bias, &LrnAttrs::alpha, &LrnAttrs::beta>()
        .infer(+[](Infer& s) {
          s.need_rank(0, 4, 4);
          if (s.attrs<LrnAttrs>().depth_radius() < 0)
            s.bad_value("depth_radius", cat(s.attrs<LrnAttrs>().depth_radius()), "0 or more");
          s.output(s.dtype(), s.shape());
        })
        .kernel("reference", run_lrn)
        .gradient(+[](Grad& g) -> Tensors {
          auto a = g.attrs<LrnAttrs>();
          return {lrn_back(g.x(), g.dy(), a.depth_radius.arg(), a.bias(), a.alpha(), a.beta())};
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
