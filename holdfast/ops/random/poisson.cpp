// Counts: Poisson and binomial.
#include <cmath>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/random/binomial.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/random/sampling.h"
#include "holdfast/ops/random/stateless.h"
#include "holdfast/ops/random/streams.h"

namespace holdfast::random {
namespace {

// The largest value of an integer dtype: draws above it are drawn again.
double highest_of(DType d) {
  if (d == int32) return std::numeric_limits<int32_t>::max();
  if (d == int64) return static_cast<double>(std::numeric_limits<int64_t>::max());
  return std::numeric_limits<double>::infinity();
}

Status poisson_into(const Philox& gen, const Tensor& rate, const Tensor& out) {
  if (out.size() == 0) return {};
  std::vector<double> drawn(static_cast<size_t>(out.size()));
  fill_poisson(gen, doubles_of(rate), highest_of(out.dtype()), drawn);
  store_doubles(drawn, out);
  return {};
}

Status run_poisson(Call& c) {
  const Tensor& y = c.out();
  return poisson_into(y.size() ? stream(c, blocks_reserved(y.size())) : Philox(), c.in(1), y);
}

void infer_binomial(Infer& s) {
  need_seed(s, 1);
  s.output(dtype_attr(s, kCountTypes), shape_ending(s, 0, binomial_parameters(s, 2)));
}

Status run_binomial(Call& c) {
  const Tensor& y = c.out();
  if (y.size()) binomial_into(philox_of_seed(c.in(1)), c.in(2), c.in(3), y);
  return {};
}

}  // namespace

Shape binomial_parameters(const Infer& s, int counts) {
  auto both = broadcast(s.shape(counts), s.shape(counts + 1));
  if (!both)
    s.bad_shape(counts + 1,
                cat("a shape that broadcasts with that of `counts`, ", s.shape(counts).text()));
  return *both;
}

void binomial_into(const Philox& gen, const Tensor& counts, const Tensor& probs,
                   const Tensor& out) {
  const Shape shape = *broadcast(counts.shape(), probs.shape());
  const bool narrow = counts.dtype() != float64;
  std::vector<double> drawn(static_cast<size_t>(out.size()));
  fill_binomial(gen, broadcast_doubles(counts, shape), broadcast_doubles(probs, shape), narrow,
                drawn);
  store_doubles(drawn, out);
}

std::vector<double> broadcast_doubles(const Tensor& t, const Shape& shape) {
  const std::vector<double> from = doubles_of(t);
  std::vector<double> out(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t left = static_cast<int64_t>(i), at = 0, stride = 1;
    for (int k = 1; k <= t.rank(); ++k) {
      at += t.dim(-k) == 1 ? 0 : left % shape[-k] * stride;
      stride *= t.dim(-k);
      left /= shape[-k];
    }
    out[i] = from[static_cast<size_t>(at)];
  }
  return out;
}

static const Op poisson_op =
    OP(RandomPoissonV2, &poisson)
        .args("shape, lam")
        .options<&PoissonOptions::dtype, &PoissonOptions::seed>("dtype, seed")
        .python("random.poisson")
        .doc("Poisson with mean `lam`: `shape` samples of each entry.")
        .inputs("shape: S!, rate: R")
        .dtypes(kCountTypes, "R")
        .attr("seed", 0)
        .attr("seed2", 0)
        .attrs<&SeedAttrs::seed, &SeedAttrs::seed2>()
        .draws()
        .attr("dtype", int64)
        .attrs<&SeedsDtypeAttrs::seed, &SeedsDtypeAttrs::seed2, &SeedsDtypeAttrs::dtype>()
        .stateful()
        .no_gradient()
        .infer(+[](Infer& s) {
          s.output(dtype_attr<SeedsDtypeAttrs>(s, kCountTypes), shape_before(s, 0, 1));
        })
        .kernel("philox", run_poisson)
        .samples("[3], positive(2)");
Tensor poisson(const Sizes& shape, const In& lam, const PoissonOptions& o) {
  CallSeeds seeds(o.seed);
  return poisson_op({shape.tensor(), lam}, seeds.attrs(o.dtype));
}

static const Op stateless_poisson_op =
    OP(StatelessRandomPoisson, &stateless_poisson)
        .args("shape, seed: S, lam")
        .options<&StatelessCountOptions::dtype>("dtype")
        .python("random.stateless_poisson")
        .doc(
            "Poisson, a pure function of `seed`; `shape` is that of the result and ends with that "
            "of `lam`.")
        .inputs("shape: T!, seed: Tseed!, lam: Rtype")
        .dtypes(kCountTypes, "Rtype")
        .attr("dtype")
        .attrs<&DtypeAttrs::dtype>()
        .no_gradient()
        .infer(+[](Infer& s) {
          need_seed(s, 1);
          s.output(dtype_attr(s, kCountTypes), shape_ending(s, 0, s.shape(2)));
        })
        .kernel(
            "philox",
            +[](Call& c) -> Status {
              return poisson_into(philox_of_seed(c.in(1)), c.in(2), c.out());
            })
        .samples("[3, 2], [1, 2], [2.0, 30.0]")
        .reference("np.array([[3, 45], [4, 25], [3, 35]], np.int32)");
Tensor stateless_poisson(const Sizes& shape, const In& seed, const In& lam,
                         const StatelessCountOptions& o) {
  return stateless_poisson_op({shape.tensor(), checked_seed(seed), lam}, {o.dtype});
}

static const Op binomial_op =
    OP(StatelessRandomBinomial, &stateless_binomial)
        .args("shape, seed: S, counts: C, probs: P")
        .options<&StatelessCountOptions::dtype>("output_dtype")
        .python("random.stateless_binomial")
        .doc(
            "Successes among `counts` trials of probability `probs`, a pure function of `seed`; "
            "`shape` ends with theirs.")
        .inputs("shape: S!, seed: Tseed!, counts, probs")
        .dtypes(kCountTypes)
        .attr("dtype", int64)
        .attrs<&DtypeAttrs::dtype>()
        .no_gradient()
        .infer(infer_binomial)
        .kernel("philox", run_binomial)
        .samples("[3, 2], [1, 2], [10.0, 100.0], 0.3", "[3, 2], [1, 2], [10, 100], 0.3")
        .reference("np.array([[5, 42], [5, 26], [5, 34]], np.int32)");
Tensor stateless_binomial(const Sizes& shape, const In& seed, const In& counts, const In& probs,
                          const StatelessCountOptions& o) {
  // Bare probabilities are float32, and bare or integer counts take the dtype of the probabilities.
  Tensor p = probs.tensor(counts.weak() || is_integer(counts.dtype()) ? float32 : counts.dtype());
  Tensor n = counts.tensor(p.dtype());
  if (is_integer(n.dtype()) && n.dtype() != p.dtype()) n = cast(n, p.dtype());
  return binomial_op({shape.tensor(), checked_seed(seed), n, p}, {o.dtype});
}

}  // namespace holdfast::random
