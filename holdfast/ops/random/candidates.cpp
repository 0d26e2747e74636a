// Candidate sampling: a few classes out of very many, with how often each was to be expected.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/random/fill.h"
#include "holdfast/ops/random/streams.h"

namespace holdfast::random {
namespace {

struct CandidateAttrs {
  Attr<int64_t> seed;
  Attr<int64_t> seed2;
  Attr<int64_t> num_true;
  Attr<int64_t> num_sampled;
  Attr<bool> unique;
};
struct RangeAttrs {
  Attr<int64_t> seed;
  Attr<int64_t> seed2;
  Attr<int64_t> num_true;
  Attr<int64_t> num_sampled;
  Attr<bool> unique;
  Attr<int64_t> range_max;
};

// Hands out the words of a generator one by one.
class Words {
 public:
  explicit Words(const Philox& gen) : gen_(gen) {}
  uint32_t word() {
    if (at_ == 4) {
      block_ = gen_();
      at_ = 0;
    }
    return block_[at_++];
  }
  double uniform() {
    const uint32_t high = word(), low = word();
    return uniform_double(high, low);
  }
  // Uniform in [0, n) without bias: numbers below the remainder are drawn again.
  uint32_t below(uint32_t n) {
    return reject<uint32_t>(n, [&] { return word(); });
  }
  uint64_t below64(uint64_t n) {
    return reject<uint64_t>(n, [&] {
      const uint32_t low = word(), high = word();
      return low | static_cast<uint64_t>(high) << 32;
    });
  }

 private:
  template <class T, class Draw>
  static T reject(T n, Draw draw) {
    if ((n & (n - 1)) == 0) return draw() & (n - 1);
    const T rest = std::numeric_limits<T>::max() % n + 1;
    T x = draw();
    while (x < rest) x = draw();
    return x % n;
  }
  Philox gen_;
  Block block_{};
  size_t at_ = 4;
};

struct Sampler {
  std::function<int64_t(Words&)> draw;
  std::function<float(int64_t)> probability;
};

Sampler uniform_sampler(int64_t range) {
  const auto each = static_cast<float>(1.0 / static_cast<double>(range));
  return {
      [range](Words& w) { return static_cast<int64_t>(w.below64(static_cast<uint64_t>(range))); },
      [each](int64_t) { return each; }};
}

Sampler log_uniform_sampler(int64_t range) {
  const double log_range = std::log1p(static_cast<double>(range));
  return {[=](Words& w) {
            return (static_cast<int64_t>(std::exp(w.uniform() * log_range)) - 1) % range;
          },
          [=](int64_t c) {
            const auto x = static_cast<double>(c);
            return static_cast<float>(std::log((x + 2) / (x + 1)) / log_range);
          }};
}

struct Asked {
  explicit Asked(const CandidateAttrs& a)
      : num_true(a.num_true()), num_sampled(a.num_sampled()), unique(a.unique()) {}
  int64_t num_true, num_sampled;
  bool unique;
};

template <bool kRange>
void infer_candidates(Infer& s) {
  const Asked a(s.attrs<CandidateAttrs>());
  s.need_rank(0, 2, 2);
  if (a.num_true < 1) s.bad_value("num_true", cat(a.num_true), "1 or more");
  if (a.num_sampled < 1 || a.num_sampled > std::numeric_limits<int32_t>::max())
    s.bad_value("num_sampled", cat(a.num_sampled), "1 or more, and less than 2^31");
  if (!s.shape().compatible(Shape{kUnknown, a.num_true}))
    s.bad_shape(0, cat("`num_true` columns: ", a.num_true));
  if (kRange) {
    const int64_t range = s.attrs<RangeAttrs>().range_max();
    if (range < 1) s.bad_value("range_max", cat(range), "1 or more");
    if (a.unique && a.num_sampled > range)
      s.bad_value("range_max", cat(range),
                  cat("at least `num_sampled`, ", a.num_sampled, ", unique classes"));
  }
  s.output(int64, Shape{a.num_sampled});
  s.output(float32, Shape{s.shape().has_rank() ? s.shape()[0] : kUnknown, a.num_true});
  s.output(float32, Shape{a.num_sampled});
}

Status check_classes(const Tensor& classes, int64_t range) {
  for (int64_t i = 0; i < classes.size(); ++i) {
    const int64_t c = classes.raw<int64_t>()[i];
    if (c < 0 || c >= range)
      return {Code::E1103,
              cat("`true_classes` holds ", c, ", expected classes in [0, ", range, ")")};
  }
  return {};
}

// How often a class of probability p is among `count` samples that took `tries` draws.
float expected(float p, int64_t count, int64_t tries) {
  if (tries == count) return p * static_cast<float>(count);
  return -std::expm1(static_cast<float>(tries) * std::log1p(-p));
}

template <Sampler (*make)(int64_t)>
Status run_candidates(Call& c) {
  const Tensor& classes = c.in();
  const Asked a(c.attrs<CandidateAttrs>());
  const int64_t range = c.attrs<RangeAttrs>().range_max();
  if (Status s = check_classes(classes, range); !s.ok()) return s;
  const Tensor &sampled = c.out(0), &true_counts = c.out(1), &counts = c.out(2);
  const Sampler sampler = make(range);
  Words words(stream(c, static_cast<uint64_t>(a.num_sampled) * (2048 / 4)));
  int64_t tries = 0;
  std::unordered_set<int64_t> seen;
  for (int64_t i = 0; i < a.num_sampled;) {
    if (++tries == std::numeric_limits<int32_t>::max())
      return {Code::E1103, cat("`num_sampled` is ", a.num_sampled,
                               ", more unique classes than 2^31 draws could find")};
    const int64_t value = sampler.draw(words);
    if (!a.unique || seen.insert(value).second) sampled.mutable_raw<int64_t>()[i++] = value;
  }
  for (int64_t i = 0; i < a.num_sampled; ++i)
    counts.mutable_raw<float>()[i] =
        expected(sampler.probability(sampled.raw<int64_t>()[i]), a.num_sampled, tries);
  for (int64_t i = 0; i < classes.size(); ++i)
    true_counts.mutable_raw<float>()[i] =
        expected(sampler.probability(classes.raw<int64_t>()[i]), a.num_sampled, tries);
  return {};
}

Status run_all(Call& c) {
  const int64_t n = c.attrs<CandidateAttrs>().num_sampled();
  if (Status s = check_classes(c.in(), n); !s.ok()) return s;
  const Tensor &sampled = c.out(0), &true_counts = c.out(1), &counts = c.out(2);
  for (int64_t i = 0; i < n; ++i) sampled.mutable_raw<int64_t>()[i] = i;
  std::fill_n(true_counts.mutable_raw<float>(), true_counts.size(), 1.0f);
  std::fill_n(counts.mutable_raw<float>(), n, 1.0f);
  return {};
}

Builder& candidates(Builder& b) {
  return b.inputs("true_classes")
      .dtypes({int64})
      .outputs("sampled_candidates, true_expected_count, sampled_expected_count")
      .attr("seed", 0)
      .attr("seed2", 0)
      .attrs<&SeedAttrs::seed, &SeedAttrs::seed2>()
      .draws()
      .attr("num_true")
      .attr("num_sampled")
      .attr("unique")
      .attrs<&CandidateAttrs::seed, &CandidateAttrs::seed2, &CandidateAttrs::num_true,
             &CandidateAttrs::num_sampled, &CandidateAttrs::unique>()
      .stateful()
      .no_gradient();
}

Candidates call(const Op& op, const In& true_classes, const CandidateOptions& o,
                std::initializer_list<Arg> rest) {
  CallSeeds seeds(o.seed);
  Attrs attrs = seeds.attrs();
  for (const Arg& a : rest) attrs.push_back(a);
  Tensor classes = true_classes.tensor(int64);
  Tensors t =
      op.many({classes.dtype() == int32 ? cast(classes, int64) : classes}, std::move(attrs));
  return {t[0], t[1], t[2]};
}

constexpr const char* kReturns = "sampled_candidates, true_expected_count, sampled_expected_count";

}  // namespace

static const Op uniform_op =
    candidates(OP(UniformCandidateSampler, &uniform_candidate_sampler)
                   .args("true_classes, num_true, num_sampled, unique, range_max")
                   .options<&CandidateOptions::seed>("seed")
                   .python("random.uniform_candidate_sampler")
                   .returns(kReturns)
                   .doc("`num_sampled` classes of [0, range_max), each equally likely."))
        .attr("range_max")
        .attrs<&RangeAttrs::seed, &RangeAttrs::seed2, &RangeAttrs::num_true,
               &RangeAttrs::num_sampled, &RangeAttrs::unique, &RangeAttrs::range_max>()
        .infer(infer_candidates<true>)
        .kernel("philox", run_candidates<uniform_sampler>)
        .samples("[[1, 5], [0, 19]], 2, 7, True, 20");
Candidates uniform_candidate_sampler(const In& true_classes, int64_t num_true, int64_t num_sampled,
                                     bool unique, int64_t range_max, const CandidateOptions& o) {
  return call(uniform_op, true_classes, o, {num_true, num_sampled, unique, range_max});
}

static const Op log_uniform_op =
    candidates(OP(LogUniformCandidateSampler, &log_uniform_candidate_sampler)
                   .args("true_classes, num_true, num_sampled, unique, range_max")
                   .options<&CandidateOptions::seed>("seed")
                   .python("random.log_uniform_candidate_sampler")
                   .returns(kReturns)
                   .doc("`num_sampled` classes of [0, range_max), likely as words sorted by "
                        "frequency are (Zipf)."))
        .attr("range_max")
        .attrs<&RangeAttrs::seed, &RangeAttrs::seed2, &RangeAttrs::num_true,
               &RangeAttrs::num_sampled, &RangeAttrs::unique, &RangeAttrs::range_max>()
        .infer(infer_candidates<true>)
        .kernel("philox", run_candidates<log_uniform_sampler>)
        .samples("[[1, 5], [0, 19]], 2, 7, False, 20");
Candidates log_uniform_candidate_sampler(const In& true_classes, int64_t num_true,
                                         int64_t num_sampled, bool unique, int64_t range_max,
                                         const CandidateOptions& o) {
  return call(log_uniform_op, true_classes, o, {num_true, num_sampled, unique, range_max});
}

static const Op all_op =
    candidates(OP(AllCandidateSampler, &all_candidate_sampler)
                   .args("true_classes, num_true, num_sampled, unique")
                   .options<&CandidateOptions::seed>("seed")
                   .python("random.all_candidate_sampler, nn.all_candidate_sampler")
                   .returns(kReturns)
                   .doc("Every class of [0, num_sampled), in order: for testing."))
        .infer(infer_candidates<false>)
        .kernel("reference", run_all)
        .samples("[[1, 5], [0, 6]], 2, 7, True")
        .reference("(np.arange(7), np.ones((2, 2), np.float32), np.ones(7, np.float32))");
Candidates all_candidate_sampler(const In& true_classes, int64_t num_true, int64_t num_sampled,
                                 bool unique, const CandidateOptions& o) {
  return call(all_op, true_classes, o, {num_true, num_sampled, unique});
}

}  // namespace holdfast::random
