#include "holdfast/ops/random/sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/ops/random/recorded.h"

namespace holdfast::random {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const Philox kSeed = Philox::from_stateless_seed(7, -9);

template <class To, class From>
std::vector<To> cast(const std::vector<From>& from) {
  return {from.begin(), from.end()};
}

template <class Int>
std::vector<Int> shuffled(Philox gen, size_t n) {
  std::vector<int64_t> order(n);
  fill_shuffle(gen, order);
  return cast<Int>(order);
}

TEST(Stateless, SeedsAreMixedAsTensorFlowMixesThem) {
  const std::pair<int64_t, int64_t> seeds[] = {{0, 0}, {1, 2}, {-3, INT32_MAX}, {12345, -1}};
  for (const auto& [s0, s1] : seeds) {
    const Philox gen = Philox::from_stateless_seed(s0, s1);
    const std::string seed = std::to_string(s0) + "," + std::to_string(s1);
    for (const std::string& name : {"i32/" + seed, "i64/" + seed}) {
      expect_equal("key_counter/" + name,
                   std::vector<uint64_t>{gen.counter_lo, gen.counter_hi, gen.key});
      std::vector<float> uniform(5);
      fill_uniform(gen, std::span(uniform));
      expect_equal("stateless_uniform/" + name, uniform);
      expect_equal("stateless_shuffle/" + name, shuffled<int32_t>(gen, 23));
    }
    // split and fold_in are full-range integers of the seed's dtype.
    std::vector<int32_t> narrow(6);
    fill_uniform_full_int(gen, std::span(narrow));
    expect_equal("split/i32/" + seed, narrow);
    expect_equal("fold_in/i32/" + seed, std::vector<int32_t>{narrow[0], 99});
    std::vector<int64_t> wide(6);
    fill_uniform_full_int(gen, std::span(wide));
    expect_equal("split/i64/" + seed, wide);
    expect_equal("fold_in/i64/" + seed, std::vector<int64_t>{wide[0], 99});
  }
}

TEST(Stateless, GammaIsTensorFlows) {
  std::vector<double> out(160);
  fill_gamma(kSeed, std::vector{0.2, 1.0, 2.5, 40.0}, out);
  expect_near("stateless_gamma/f64", out);
  fill_gamma(kSeed, std::vector{double{0.2f}, 1.0, 2.5, 40.0}, out);
  expect_near("stateless_gamma/f32", cast<float>(out));
}

TEST(Stateless, PoissonIsTensorFlows) {
  const std::vector<double> rates{0.3f, 4, 11.5, 250};
  std::vector<double> out(160);
  fill_poisson(kSeed, rates, INT32_MAX, out);
  expect_equal("stateless_poisson/i32", cast<int32_t>(out));
  fill_poisson(kSeed, rates, kInf, out);
  expect_equal("stateless_poisson/f64", out);
}

TEST(Stateless, PoissonOfOddRatesEnds) {
  std::vector<double> out(5);
  fill_poisson(kSeed, std::vector{-1.0, 0.0, kNan, kInf, 1e10}, INT32_MAX, out);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 0);
  EXPECT_TRUE(std::isnan(out[2]));
  EXPECT_EQ(out[3], INT32_MAX);
  EXPECT_EQ(out[4], INT32_MAX);
  fill_poisson(kSeed, std::vector{kInf}, kInf, out);
  EXPECT_EQ(out[0], kInf);
}

TEST(Stateless, BinomialIsTensorFlows) {
  const std::vector<double> counts{3, 50, 1000};
  std::vector<double> out(120);
  fill_binomial(kSeed, counts, std::vector<double>(3, 0.1f), true, out);
  expect_equal("stateless_binomial/i32/low", cast<int32_t>(out));
  fill_binomial(kSeed, counts, std::vector<double>(3, 0.9f), true, out);
  expect_equal("stateless_binomial/i32/high", cast<int32_t>(out));
}

TEST(Stateless, BinomialOfOddParametersEnds) {
  std::vector<double> out(12);
  fill_binomial(kSeed, std::vector{0., -1., 9., 9., kInf, 5.},
                std::vector{.5, .5, 0., 1., .5, kNan}, false, out);
  const Recorded& theirs = recorded("stateless_binomial/f64/odd");
  for (size_t i = 0; i < out.size(); ++i) {
    const double want = std::bit_cast<double>(theirs.values[i]);
    EXPECT_TRUE(out[i] == want || (std::isnan(out[i]) && std::isnan(want))) << i;
  }
}

TEST(Stateless, CategoricalIsTensorFlows) {
  std::vector<float> logits{0.1f, 0.2f, 0.3f, 0.4f, 0.7f, 0.1f, 0.1f, 0.1f, 1e-3f, 1, 2, 1e-9f};
  for (float& x : logits) x = std::log(x);
  for (const size_t n : {1, 2, 3, 9}) {
    std::vector<int64_t> out(3 * n);
    fill_categorical(kSeed, std::span<const float>(logits), 4, out);
    expect_equal("stateless_categorical/" + std::to_string(n), out);
  }
}

// Three calls in a row of 5, 7 and 4 outputs: each must start where TensorFlow's kernel would.
template <class Make>
void check_calls(const std::string& name, Make make) {
  Philox gen = Philox::from_seeds(87654321, -5);
  int turn = 0;
  for (const size_t n : {5, 7, 4})
    gen.skip(make(gen, n, "stateful/" + name + "/" + std::to_string(turn++)));
}

TEST(Stateful, CallsReserveWhatTensorFlowReserves) {
  check_calls("uniform/f32", [](Philox gen, size_t n, const std::string& name) {
    std::vector<float> out(n);
    fill_uniform(gen, std::span(out));
    expect_equal(name, out);
    return blocks_reserved(static_cast<int64_t>(n));
  });
  check_calls("uniform/f64", [](Philox gen, size_t n, const std::string& name) {
    std::vector<double> out(n);
    fill_uniform(gen, std::span(out));
    expect_equal(name, out);
    return blocks_reserved(static_cast<int64_t>(n));
  });
  check_calls("normal/f32", [](Philox gen, size_t n, const std::string& name) {
    std::vector<float> out(n);
    fill_normal(gen, std::span(out));
    expect_near(name, out);
    return blocks_reserved(static_cast<int64_t>(n));
  });
  check_calls("truncated/f32", [](Philox gen, size_t n, const std::string& name) {
    std::vector<float> out(n);
    fill_truncated_normal(gen, std::span(out));
    expect_near(name, out);
    return blocks_reserved(static_cast<int64_t>(n));
  });
  check_calls("truncated/f64", [](Philox gen, size_t n, const std::string& name) {
    std::vector<double> out(n);
    fill_truncated_normal(gen, std::span(out));
    expect_near(name, out);
    return blocks_reserved(static_cast<int64_t>(n));
  });
  check_calls("int/i32", [](Philox gen, size_t n, const std::string& name) {
    std::vector<int32_t> out(n);
    fill_uniform_int(gen, -3, 1000, out);
    expect_equal(name, out);
    return blocks_reserved(static_cast<int64_t>(n));
  });
  check_calls("shuffle", [](Philox gen, size_t n, const std::string& name) {
    expect_equal(name, shuffled<int32_t>(gen, n));
    return blocks_of_shuffle(static_cast<int64_t>(n));
  });
  check_calls("categorical", [](Philox gen, size_t n, const std::string& name) {
    const auto inf = std::numeric_limits<float>::infinity();
    const std::vector<float> logits{0.1f, -0.2f, inf, 0.4f, 2, 1, -inf, 1};
    std::vector<int64_t> out(2 * n);
    fill_categorical(gen, std::span(logits), 4, out);
    expect_equal(name, out);
    return blocks_of_categorical(2, static_cast<int64_t>(n));
  });
  check_calls("gamma", [](Philox gen, size_t n, const std::string& name) {
    std::vector<double> out(2 * n);
    fill_gamma(gen, std::vector{0.5, 3.0}, out);
    expect_near(name, cast<float>(out));
    return blocks_reserved(static_cast<int64_t>(2 * n));
  });
  check_calls("poisson", [](Philox gen, size_t n, const std::string& name) {
    std::vector<double> out(2 * n);
    fill_poisson(gen, std::vector{2.0, 30.0}, static_cast<double>(INT64_MAX), out);
    expect_equal(name, cast<int64_t>(out));
    return blocks_reserved(static_cast<int64_t>(2 * n));
  });
}

}  // namespace
}  // namespace holdfast::random
