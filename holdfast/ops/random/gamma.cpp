// Gamma, with a gradient for its shape parameter.
#include <cmath>
#include <limits>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/expr/special_functions.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/random/binomial.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/random/sampling.h"
#include "holdfast/ops/random/stateless.h"
#include "holdfast/ops/random/streams.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::random {
namespace {

Status gamma_into(const Philox& gen, const Tensor& alpha, const Tensor& out) {
  if (out.size() == 0) return {};
  std::vector<double> drawn(static_cast<size_t>(out.size()));
  fill_gamma(gen, doubles_of(alpha), drawn);
  store_doubles(drawn, out);
  return {};
}

Status run_gamma(Call& c) {
  const Tensor& y = c.out();
  return gamma_into(y.size() ? stream(c, blocks_reserved(y.size())) : Philox(), c.in(1), y);
}

Status run_v3(Call& c) {
  Philox gen;
  if (Status s = philox_of_inputs(c, 1, gen); !s.ok()) return s;
  return gamma_into(gen, c.in(4), c.out());
}

// A sample x keeps its quantile while alpha moves: dx/da = -(dP/da) / (dP/dx), where P(a, x) is the
// regularised lower incomplete gamma function. Both are differentiated term by term, the series of
// P where x is small, the continued fraction of 1 - P where it is large.
double by_series(double a, double x) {
  double term = 1, sum = 1, log_term = 0, slope = 0;
  for (int n = 1; n < 10000; ++n) {
    term *= x / (a + n);
    log_term -= 1 / (a + n);
    const double added = term * log_term;
    sum += term;
    slope += added;
    if (std::abs(added) <= 1e-16 * std::abs(slope) && term <= 1e-16 * sum) break;
  }
  return -(slope + sum * (std::log(x) - scalar::digamma(a + 1))) * x / a;
}

double by_fraction(double a, double x) {
  double y = 1 - a, z = x + y + 1;
  // Numerators and denominators of the last two convergents, and their derivatives by a.
  double p2 = 1, q2 = x, p1 = x + 1, q1 = z * x;
  double dp2 = 0, dq2 = 0, dp1 = 0, dq1 = -x;
  double value = p1 / q1, slope = (dp1 - value * dq1) / q1;
  for (int n = 1; n < 10000; ++n) {
    y += 1;
    z += 2;
    const double c = y * n;
    const double p = p1 * z - p2 * c, q = q1 * z - q2 * c;
    const double dp = dp1 * z - p1 - dp2 * c + p2 * n, dq = dq1 * z - q1 - dq2 * c + q2 * n;
    p2 = p1, p1 = p, q2 = q1, q1 = q, dp2 = dp1, dp1 = dp, dq2 = dq1, dq1 = dq;
    const double before = slope;
    if (q != 0) {
      value = p / q;
      slope = (dp - value * dq) / q;
    }
    if (std::abs(slope - before) <= 1e-16 * std::abs(slope)) break;
    if (std::abs(p) > 0x1p52) {
      for (double* v : {&p2, &p1, &q2, &q1, &dp2, &dp1, &dq2, &dq1}) *v *= 0x1p-52;
    }
  }
  return (slope + value * (std::log(x) - scalar::digamma(a))) * x;
}

double sample_slope(double a, double x) {
  if (x == 0) return 0;
  if (std::isnan(a) || std::isnan(x) || x < 0 || a <= 0)
    return std::numeric_limits<double>::quiet_NaN();
  return x > 1 && x > a ? by_fraction(a, x) : by_series(a, x);
}

void infer_grad(Infer& s) {
  auto both = broadcast(s.shape(0), s.shape(1));
  if (!both)
    s.bad_shape(1, cat("a shape that broadcasts with that of `alpha`, ", s.shape(0).text()));
  s.output(s.dtype(), *both);
}

Status run_grad(Call& c) {
  const Tensor& y = c.out();
  const std::vector<double> alpha = broadcast_doubles(c.in(0), y.shape()),
                            sample = broadcast_doubles(c.in(1), y.shape());
  std::vector<double> slopes(alpha.size());
  parallel_for(y.size(), 1 << 8, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      slopes[i] = sample_slope(alpha[i], sample[i]);
  });
  store_doubles(slopes, y);
  return {};
}

}  // namespace

static const Op grad_op =
    RAW_OP(RandomGammaGrad)
        .doc("Derivative of a gamma sample by its shape parameter, the quantile held fixed.")
        .inputs("alpha, sample")
        .dtypes({float32, float64})
        .infer(infer_grad)
        .kernel("reference", run_grad);

// Samples lie in front of the parameters, so alpha broadcasts and the frame's sum brings it back.
static Tensors gradient_by_alpha(Grad& g, int alpha) {
  Tensors out(static_cast<size_t>(g.inputs()));
  Tensor slope = grad_op({g.x(alpha), g.y()});
  out[static_cast<size_t>(alpha)] = sum_to(multiply(g.dy(), slope), g.x(alpha));
  return out;
}

static const Op gamma_op =
    RAW_OP(RandomGamma)
        .doc("Gamma with shape parameter `alpha` and scale 1: `shape` samples of each entry.")
        .inputs("shape: S!, alpha")
        .dtypes(kGammaTypes)
        .attr("seed", 0)
        .attr("seed2", 0)
        .attrs<&SeedAttrs::seed, &SeedAttrs::seed2>()
        .draws()
        .stateful()
        .infer(+[](Infer& s) { s.output(s.dtype(1), shape_before(s, 0, 1)); })
        .kernel("philox", run_gamma)
        .gradient(+[](Grad& g) -> Tensors { return gradient_by_alpha(g, 1); })
        .keeps("alpha, output");

static const Op gamma_v2 =
    RAW_OP(StatelessRandomGammaV2)
        .doc("Gamma with scale 1, a pure function of `seed`; `shape` ends with that of `alpha`.")
        .inputs("shape: T!, seed: Tseed!, alpha")
        .dtypes(kGammaTypes)
        .infer(+[](Infer& s) {
          need_seed(s, 1);
          s.output(s.dtype(2), shape_ending(s, 0, s.shape(2)));
        })
        .kernel(
            "philox",
            +[](Call& c) -> Status {
              return gamma_into(philox_of_seed(c.in(1)), c.in(2), c.out());
            })
        .gradient(+[](Grad& g) -> Tensors { return gradient_by_alpha(g, 2); })
        .keeps("alpha, output");

static const Op gamma_v3 =
    RAW_OP(StatelessRandomGammaV3)
        .doc(
            "Gamma with scale 1, a pure function of key and counter; "
            "`shape` ends with that of `alpha`.")
        .inputs("shape: shape_dtype!, key: K, counter: K, alg: A!, alpha")
        .dtypes({uint64}, "K")
        .dtypes(kGammaTypes)
        .infer(+[](Infer& s) {
          need_key_counter(s, 1);
          s.output(s.dtype(4), shape_ending(s, 0, s.shape(4)));
        })
        .kernel("philox", run_v3)
        .gradient(+[](Grad& g) -> Tensors { return gradient_by_alpha(g, 4); })
        .keeps("alpha, output");

// What both public functions do around the op: alpha broadcast, the result scaled and kept
// positive.
template <class Draw>
static Tensor scaled(const In& alpha, const In& beta, DType dtype, Draw draw) {
  check_dtype("gamma", dtype, kGammaTypes);
  Tensor a = as_dtype(alpha, dtype, "alpha");
  Tensor b = beta.given() ? as_dtype(beta, dtype, "beta") : In(1).tensor(dtype);
  auto both = broadcast(a.shape(), b.shape());
  if (!both)
    fail(Code::E1102, cat("gamma: `alpha` has shape ", a.shape().text(), " and `beta` ",
                          b.shape().text(), ", expected shapes that broadcast"));
  Sizes to = both->is_full()
                 ? Sizes(*both)
                 : Sizes(broadcast_dynamic_shape(holdfast::shape(a), holdfast::shape(b)));
  const double tiny = dtype == float16 ? 0x1p-14 : dtype == float32 ? 0x1p-126 : 0x1p-1022;
  Tensor drawn = draw(a.shape() == *both && both->is_full() ? a : broadcast_to(a, to));
  return maximum(Tensor::scalar(tiny, dtype),
                 is_number(beta, 1) || !beta.given() ? drawn : divide(drawn, b));
}

REGISTER(FUNCTION(&gamma)
             .args("shape, alpha: dtype")
             .options<&GammaOptions::beta, &GammaOptions::dtype, &GammaOptions::seed>(
                 "beta: dtype, dtype, seed")
             .python("random.gamma")
             .doc("Gamma with shape parameter `alpha` and inverse scale `beta`: `shape` samples of "
                  "each; differentiable in both.")
             .samples("[3], positive(2), positive(4, 1)"));
Tensor gamma(const Sizes& shape, const In& alpha, const GammaOptions& o) {
  return scaled(alpha, o.beta, o.dtype, [&](const Tensor& a) {
    CallSeeds seeds(o.seed);
    return gamma_op({shape.tensor(), a}, seeds.attrs());
  });
}

REGISTER(
    FUNCTION(&stateless_gamma)
        .args("shape, seed: S, alpha: dtype")
        .options<&StatelessGammaOptions::beta, &StatelessGammaOptions::dtype>("beta: dtype, dtype")
        .python("random.stateless_gamma")
        .doc("Gamma, a pure function of `seed`; `shape` is that of the result and ends with that "
             "of the parameters.")
        .samples("[3, 2], [1, 2], [2.0, 3.0]")
        .reference("np.array([[2.81727362, 3.35037541], [1.92413652, 3.40351486], [3.33600664, "
                   "2.44797111]], np.float32)"));
Tensor stateless_gamma(const Sizes& shape, const In& seed, const In& alpha,
                       const StatelessGammaOptions& o) {
  return scaled(alpha, o.beta, o.dtype, [&](const Tensor& a) {
    KeyCounter k(seed, "auto_select");
    return gamma_v3({shape.tensor(), k.key, k.counter, k.alg, a});
  });
}

}  // namespace holdfast::random
