#include "holdfast/ops/random/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "holdfast/base/parallel.h"

namespace holdfast::random {
namespace {

constexpr int64_t kGrain = 1 << 10;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// `sample(gen, parameter)` makes one number. Element i counts parameters outside, samples inside,
// and starts `stride(parameter) * i` blocks on; in memory samples are outside.
template <class Stride, class Sample>
void fill_each(Philox gen, size_t parameters, std::span<double> out, Stride stride, Sample sample) {
  if (out.empty()) return;
  const size_t samples = out.size() / parameters;
  parallel_for(static_cast<int64_t>(out.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const size_t parameter = i / samples;
      Philox g = gen;
      g.skip(stride(parameter) * i);
      out[i % samples * parameters + parameter] = sample(g, parameter);
    }
  });
}

double gamma_sample(Philox& gen, double alpha) {
  UniformDoubles uniform(gen);
  if (alpha == 1.0) return -std::log1p(-uniform());
  // Below 1 the sampler works for alpha + 1, and a power of a uniform brings the result back.
  const bool boosted = alpha < 1;
  const double d = alpha + (boosted ? 2.0 / 3 : -1.0 / 3);
  const double c = 1.0 / 3 / std::sqrt(d);
  std::array<double, 2> normals{};
  for (size_t left = 0;;) {
    if (left == 0) {
      normals = normal_pair(gen());
      left = 2;
    }
    const double x = normals[--left];
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) ||
        std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      return boosted ? d * v * std::pow(uniform(), 1 / alpha) : d * v;
    }
  }
}

// Knuth: how many uniforms can be multiplied before the product falls to exp(-rate).
double poisson_by_products(Philox& gen, double rate) {
  UniformDoubles uniform(gen);
  const double floor = std::exp(-rate);
  double count = 0;
  for (double product = uniform(); product > floor; product *= uniform()) count += 1;
  return count;
}

// lgamma() writes the global `signgam`, which threads would race for.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// Hoermann's transformed rejection (PTRS); the constants are his.
double poisson_by_rejection(Philox& gen, double rate, double highest) {
  UniformDoubles uniform(gen);
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  while (true) {
    const double u = uniform() - 0.5;
    const double v = uniform();
    const double tail = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / tail + b) * u + rate + 0.43);
    if (k > highest) continue;
    if (tail >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (tail < 0.013 && v > tail)) continue;
    const double s = std::log(v * inverse_alpha / (a / (tail * tail) + b));
    if (s <= -rate + k * log_rate - log_gamma(k + 1)) return k;
  }
}

// Counts how many geometric waiting times fit in `count` trials.
double binomial_by_inversion(Philox& gen, double count, double prob) {
  UniformDoubles uniform(gen);
  double successes = 0;
  for (double used = 0;; successes += 1) {
    used += std::ceil(std::log(uniform()) / std::log1p(-prob));
    if (used > count) return successes;
  }
}

// log(k!) less Stirling's leading terms.
double stirling_tail(double k) {
  static constexpr double kTable[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                      0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                      0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                      0.00833056343336287};
  if (k <= 9) return kTable[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Hoermann's BTRS.
double binomial_by_rejection(Philox& gen, double count, double prob) {
  UniformDoubles uniform(gen);
  const double stddev = std::sqrt(count * prob * (1 - prob));
  const double b = 1.15 + 2.53 * stddev;
  const double a = -0.0873 + 0.0248 * b + 0.01 * prob;
  const double c = count * prob + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double odds = prob / (1 - prob);
  const double alpha = (2.83 + 5.1 / b) * stddev;
  const double mode = std::floor((count + 1) * prob);
  while (true) {
    const double u = uniform() - 0.5;
    const double v = uniform();
    const double tail = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / tail + b) * u + c);
    if (tail >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) +
                         stirling_tail(mode) + stirling_tail(count - mode) - stirling_tail(k) -
                         stirling_tail(count - k);
    if (std::log(v * alpha / (a / (tail * tail) + b)) <= bound) return k;
  }
}

template <class T>
void categorical(Philox gen, std::span<const T> logits, int64_t classes, std::span<int64_t> out) {
  if (out.empty() || classes == 0) return;
  const auto width = static_cast<size_t>(classes);
  const size_t rows = logits.size() / width, samples = out.size() / rows;
  std::vector<double> below(width);  // unnormalised cumulative probabilities
  Block block{};
  size_t word = 4;
  for (size_t row = 0; row < rows; ++row) {
    const auto line = logits.subspan(row * width, width);
    T top = std::numeric_limits<T>::lowest();
    for (const T x : line) {
      if (std::isfinite(x)) top = std::max(top, x);
    }
    double total = 0;
    for (size_t j = 0; j < width; ++j) {
      if (std::isfinite(line[j])) total += std::exp(double{line[j]} - double{top});
      below[j] = total;
    }
    for (size_t s = 0; s < samples; ++s, word += 2) {
      if (word == 4) {
        block = gen();
        word = 0;
      }
      const double find = uniform_double(block[word], block[word + 1]) * total;
      out[row * samples + s] = std::upper_bound(below.begin(), below.end(), find) - below.begin();
    }
  }
}

}  // namespace

void fill_shuffle(Philox gen, std::span<int64_t> order) {
  std::iota(order.begin(), order.end(), int64_t{0});
  shuffle_in_place(gen, order);
}
uint64_t blocks_of_shuffle(int64_t rows) {
  return rows <= 1 ? 0 : static_cast<uint64_t>((rows - 1 + 3) / 4);
}

void fill_categorical(Philox gen, std::span<const float> logits, int64_t classes,
                      std::span<int64_t> out) {
  categorical(gen, logits, classes, out);
}
void fill_categorical(Philox gen, std::span<const double> logits, int64_t classes,
                      std::span<int64_t> out) {
  categorical(gen, logits, classes, out);
}
uint64_t blocks_of_categorical(int64_t rows, int64_t samples) {
  return blocks_reserved(rows * ((samples + 3) / 4 * 4 * 2));
}

void fill_gamma(Philox gen, std::span<const double> alpha, std::span<double> out) {
  fill_each(
      gen, alpha.size(), out, [](size_t) { return kBlocksPerOutput; },
      [&](Philox& g, size_t p) { return gamma_sample(g, alpha[p]); });
}

void fill_poisson(Philox gen, std::span<const double> rate, double highest, std::span<double> out) {
  fill_each(
      gen, rate.size(), out, [](size_t) { return kBlocksPerOutput; },
      [&](Philox& g, size_t p) {
        if (std::isnan(rate[p])) return kNan;
        if (rate[p] < 10) return poisson_by_products(g, rate[p]);
        // So far above `highest` that the rejection would never end.
        if (std::isinf(rate[p]) || rate[p] - 20 * std::sqrt(rate[p]) > highest) return highest;
        return poisson_by_rejection(g, rate[p], highest);
      });
}

void fill_binomial(Philox gen, std::span<const double> counts, std::span<const double> probs,
                   bool narrow, std::span<double> out) {
  // Both samplers want the rarer outcome.
  const auto rarer = [&](size_t p) {
    if (probs[p] <= 0.5) return probs[p];
    return narrow ? double{1.0f - static_cast<float>(probs[p])} : 1 - probs[p];
  };
  const auto rejects = [&](size_t p) {
    const double mean = counts[p] * rarer(p);
    return (narrow ? double{static_cast<float>(mean)} : mean) >= 10;
  };
  fill_each(
      gen, counts.size(), out, [&](size_t p) { return rejects(p) ? uint64_t{256} : uint64_t{42}; },
      [&](Philox& g, size_t p) {
        const double count = counts[p], prob = probs[p];
        if (count <= 0 || prob <= 0) return 0.0;
        if (prob >= 1) return count;
        if (std::isnan(prob) || std::isnan(count)) return kNan;
        const double drawn = rejects(p) ? binomial_by_rejection(g, count, rarer(p))
                                        : binomial_by_inversion(g, count, rarer(p));
        return prob <= 0.5 ? drawn : count - drawn;
      });
}
uint64_t blocks_of_binomial(int64_t parameters, int64_t samples) {
  return blocks_reserved(parameters * 2 * 100 * (samples + 3) / 4);
}

}  // namespace holdfast::random
