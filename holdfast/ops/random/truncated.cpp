// Normal numbers between bounds of their own, differentiable in every parameter.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/random/binomial.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/random/stateless.h"
#include "holdfast/ops/random/streams.h"

namespace holdfast::random {
namespace {

constexpr int kMostTries = 1000;     // a sample that takes more is given up
constexpr int64_t kPiece = 1 << 12;  // outputs that one stretch of the generator serves

template <class W>
using Group = std::array<W, sizeof(W) == 4 ? 4 : 2>;

template <class W>
Group<W> uniforms(Philox& gen) {
  Group<W> out;
  fill_uniform(gen, std::span<W>(out));
  gen.skip(1);
  return out;
}
template <class W>
Group<W> normals(Philox& gen) {
  Group<W> out;
  fill_normal(gen, std::span<W>(out));
  gen.skip(1);
  return out;
}

// One distribution, mirrored so that a single bound is the lower one, and the way to draw from it.
template <class W>
class Bounded {
 public:
  Bounded(W mean, W stddev, W low, W high) : mean_(mean), stddev_(stddev) {
    if ((std::isinf(low) && low < 0) || high < mean) {
      std::swap(low, high);
      stddev_ = -stddev;
    }
    low_ = (low - mean) / stddev_;
    high_ = (high - mean) / stddev_;
    const W root = std::sqrt(low_ * low_ + 4);
    const W cutoff = 2 * std::exp(W(0.5) + low_ * (low_ - root) / 4) / (low_ + root);
    const W far = W(1.3);  // beyond which the plain normal is accepted about half the time
    if ((low_ < -far && high_ >= 0) || (high_ > far && low_ <= 0))
      way_ = kNormal;
    else
      way_ = high_ - low_ < cutoff ? kUniform : kExponential;
    rate_ = (low_ + root) / 2;
  }

  /// Offers candidates from fresh blocks: `offer(value, accepted)` until it says to stop.
  template <class Offer>
  void propose(Philox& gen, Offer offer) const {
    const auto scaled = [&](W z) { return z * stddev_ + mean_; };
    if (way_ == kNormal) {
      for (W z : normals<W>(gen))
        if (!offer(scaled(z), z >= low_ && z <= high_)) return;
    } else if (way_ == kUniform) {
      const Group<W> at = uniforms<W>(gen), u = uniforms<W>(gen);
      const W top = low_ < 0 ? W(0) : low_ * low_;
      for (size_t i = 0; i < at.size(); ++i) {
        const W z = at[i] * (high_ - low_) + low_;
        if (!offer(scaled(z), u[i] <= std::exp((top - z * z) / 2))) return;
      }
    } else {
      const Group<W> u = uniforms<W>(gen);
      for (size_t i = 0; i + 1 < u.size(); i += 2) {
        const W z = -std::log(u[i]) / rate_ + low_;
        const W x = low_ < rate_ ? rate_ - z : low_ - rate_;
        if (!offer(scaled(z), u[i + 1] <= std::exp(-x * x / 2) && z < high_)) return;
      }
    }
  }

 private:
  enum Way { kNormal, kUniform, kExponential };
  W mean_, stddev_, low_, high_, rate_;
  Way way_;
};

struct Parameters {
  std::vector<double> mean, stddev, low, high;
  int64_t count;
};

// Outputs [begin, end), counted parameter by parameter; sample s of parameter p is out[s * count +
// p], or, where samples of one parameter lie together, out[p * samples + s]. False if a sample was
// given up.
template <class W>
bool fill_piece(Philox gen, const Parameters& p, int64_t samples, bool together, int64_t begin,
                int64_t end, std::span<double> out) {
  constexpr uint64_t kGroup = Group<W>().size();
  gen.skip((static_cast<uint64_t>(begin) * 2 * kMostTries + kGroup - 1) / kGroup);
  for (int64_t i = begin; i < end;) {
    const int64_t param = i / samples, limit = std::min((param + 1) * samples, end);
    const auto at = static_cast<size_t>(param);
    const Bounded<W> dist(static_cast<W>(p.mean[at]), static_cast<W>(p.stddev[at]),
                          static_cast<W>(p.low[at]), static_cast<W>(p.high[at]));
    for (int misses = 0; i < limit;) {
      dist.propose(gen, [&](W value, bool accepted) {
        misses = accepted ? 0 : misses + 1;
        if (accepted) {
          out[static_cast<size_t>(together ? i : i % samples * p.count + param)] =
              static_cast<double>(value);
          ++i;
        }
        return i < limit;
      });
      if (misses > kMostTries) return false;
    }
  }
  return true;
}

Shape parameters_shape(const Infer& s) {
  Shape all = s.shape(2);
  for (int i = 3; i < 6; ++i) {
    auto both = broadcast(all, s.shape(i));
    if (!both)
      s.bad_shape(
          i, cat("a shape that broadcasts with those of the parameters before it, ", all.text()));
    all = *both;
  }
  return all;
}

// Refuses parameters that are no distribution.
Status check(const Parameters& p) {
  for (size_t i = 0; i < p.mean.size(); ++i) {
    const bool good = std::isfinite(p.mean[i]) && std::isfinite(p.stddev[i]) && p.stddev[i] > 0 &&
                      p.low[i] < p.high[i] && (std::isfinite(p.low[i]) || std::isfinite(p.high[i]));
    if (!good)
      return {Code::E1103,
              cat("parameters ", i, ": mean ", p.mean[i], ", stddev ", p.stddev[i], ", bounds ",
                  p.low[i], " and ", p.high[i],
                  ", expected a positive stddev and minval < maxval, one of them finite")};
  }
  return {};
}

// Fills `y` in pieces of `piece` outputs, each with a stretch of the generator of its own.
Status draw(const Philox& gen, const Parameters& p, bool together, int64_t piece, const Tensor& y) {
  if (Status s = check(p); !s.ok()) return s;
  const int64_t samples = y.size() / p.count;
  std::vector<double> drawn(static_cast<size_t>(y.size()));
  std::atomic<bool> failed = false;
  parallel_for(y.size(), piece, [&](int64_t begin, int64_t end) {
    const auto fill = y.dtype() == float64 ? fill_piece<double> : fill_piece<float>;
    if (!fill(gen, p, samples, together, begin, end, drawn)) failed = true;
  });
  if (failed)
    return {Code::E1103, cat("no sample was accepted in ", kMostTries, " tries"),
            "the bounds leave the normal distribution next to nothing"};
  store_doubles(drawn, y);
  return {};
}

Status run_bounded(Call& c) {
  const Tensor& y = c.out();
  if (y.size() == 0) return {};
  Shape shape = c.in(2).shape();
  for (int i = 3; i < 6; ++i) shape = *broadcast(shape, c.in(i).shape());
  Parameters p{broadcast_doubles(c.in(2), shape), broadcast_doubles(c.in(3), shape),
               broadcast_doubles(c.in(4), shape), broadcast_doubles(c.in(5), shape), shape.size()};
  return draw(philox_of_seed(c.in(1)), p, false, kPiece, y);
}

// The first axis counts batches, and each may have parameters of its own.
void infer_batches(Infer& s) {
  Shape out = named_shape(s, 0);
  if (out.has_rank() && out.rank() < 1) s.bad_value("shape", "[]", "one size or more");
  for (int i = 1; i < 5; ++i) {
    s.need_rank(i, 0, 1);
    if (!s.shape(i).has_rank() || s.shape(i).rank() == 0) continue;
    int64_t n = s.shape(i)[0], batches = out.has_rank() ? out[0] : kUnknown;
    if (n >= 0 && batches >= 0 && n != batches && n != 1)
      s.bad_shape(i, cat("one number, or ", batches, ", one for each batch"));
  }
  s.output(s.dtype(1), out);
}

Status run_batches(Call& c) {
  const Tensor& y = c.out();
  if (y.size() == 0) return {};
  const Shape each{y.dim(0)};
  Parameters p{broadcast_doubles(c.in(1), each), broadcast_doubles(c.in(2), each),
               broadcast_doubles(c.in(3), each), broadcast_doubles(c.in(4), each), y.dim(0)};
  const int64_t samples = y.size() / y.dim(0);
  return draw(stream(c, static_cast<uint64_t>(y.size()) * 2 * kMostTries), p, true, samples, y);
}

// The standard normal's distribution function.
Tensor cumulative(const Tensor& x) { return erfc(x * -std::numbers::sqrt2 * 0.5) * 0.5; }

// A sample keeps its quantile q while a bound moves. With xi the sample and a, b the bounds, all in
// standard deviations: Phi(xi) = (1 - q) Phi(a) + q Phi(b). As in TensorFlow, the bounds in
// standard deviations stay where they are while mean and stddev move.
Tensors bounded_gradient(Grad& g) {
  Tensor mean = g.x(2), stddev = g.x(3), dy = g.dy();
  Tensor xi = divide(g.y() - mean, stddev);
  Tensors out{Tensor(), Tensor(), sum_to(dy, mean), sum_to(dy * xi, stddev), Tensor(), Tensor()};
  if (!g.wants(4) && !g.wants(5)) return out;
  Tensor a = divide(g.x(4) - mean, stddev), b = divide(g.x(5) - mean, stddev);
  Tensor below = cumulative(a), q = divide(cumulative(xi) - below, cumulative(b) - below);
  out[4] = sum_to(dy * (1 - q) * exp((square(xi) - square(a)) * 0.5), g.x(4));
  out[5] = sum_to(dy * q * exp((square(xi) - square(b)) * 0.5), g.x(5));
  return out;
}

const Op batches_op =
    RAW_OP(ParameterizedTruncatedNormal)
        .inputs("shape: S!, means, stdevs, minvals, maxvals")
        .dtypes(kGammaTypes)
        .attr("seed", 0)
        .attr("seed2", 0)
        .attrs<&SeedAttrs::seed, &SeedAttrs::seed2>()
        .draws()
        .doc(
            "Normal numbers between bounds; each entry of the first axis may have "
            "parameters of its own.")
        .stateful()
        .no_gradient()
        .infer(infer_batches)
        .kernel("philox", run_batches);

}  // namespace

static const Op op =
    OP(StatelessParameterizedTruncatedNormal, &stateless_parameterized_truncated_normal)
        .args("shape, seed: S")
        .options<&BoundedNormalOptions::means, &BoundedNormalOptions::stddevs,
                 &BoundedNormalOptions::minvals, &BoundedNormalOptions::maxvals>(
            "means, stddevs, minvals, maxvals")
        .python("random.stateless_parameterized_truncated_normal")
        .doc(
            "Normal numbers between bounds, a pure function of `seed`; `shape` ends with that of "
            "the parameters.")
        .inputs("shape: S!, seed: Tseed!, means, stddevs, minvals, maxvals")
        .dtypes(kGammaTypes)
        .infer(+[](Infer& s) {
          need_seed(s, 1);
          s.output(s.dtype(2), shape_ending(s, 0, parameters_shape(s)));
        })
        .kernel("philox", run_bounded)
        .gradient(bounded_gradient)
        .keeps("means, stddevs, minvals, maxvals, output")
        .samples("[3, 2], [1, 2]")
        .reference(
            "np.array([[0.54411012, 0.20738031], [0.07356432, 0.04643455], [-1.30158985, "
            "-0.95385653]], np.float32)");
Tensor stateless_parameterized_truncated_normal(const Sizes& shape, const In& seed,
                                                const BoundedNormalOptions& o) {
  return op({shape.tensor(), checked_seed(seed), o.means, o.stddevs, o.minvals, o.maxvals});
}

}  // namespace holdfast::random
