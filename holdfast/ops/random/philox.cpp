#include "holdfast/ops/random/philox.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "holdfast/base/parallel.h"
#include "holdfast/ops/random/cpu/philox_loops.h"

namespace holdfast::random {
namespace {

constexpr uint32_t low(uint64_t x) { return static_cast<uint32_t>(x); }
constexpr uint32_t high(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
constexpr uint64_t join(uint32_t lo, uint32_t hi) { return lo | static_cast<uint64_t>(hi) << 32; }

// Philox's multipliers, and the steps of its key.
constexpr uint64_t kFactor0 = 0xD2511F53, kFactor1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

// Groups per piece of parallel work: about 0.1 ms of plain uniforms, of which normals take ten
// times.
constexpr int64_t kUniformGrain = 1 << 14;
constexpr int64_t kNormalGrain = 1 << 11;

// Round to nearest even. Normals of two words stay below 6, so infinities and NaN need no care.
Float16Bits to_float16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const float magnitude = std::fabs(f);
  if (magnitude < 0x1p-14f) {  // subnormal: adding 0.5 leaves multiples of 2^-24 in the low bits
    return Float16Bits(sign | (std::bit_cast<uint32_t>(magnitude + 0.5f) - 0x3f000000u));
  }
  const uint32_t m = std::bit_cast<uint32_t>(magnitude) - (112u << 23);
  return Float16Bits(sign | (m + 0xfffu + (m >> 13 & 1u)) >> 13);
}
BFloat16Bits to_bfloat16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  return BFloat16Bits((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

template <class T>
T from_float(float f) {
  if constexpr (std::is_same_v<T, Float16Bits>) return to_float16(f);
  if constexpr (std::is_same_v<T, BFloat16Bits>) return to_bfloat16(f);
  if constexpr (std::is_same_v<T, float>) return f;
}

// The angle is rounded to float from a double product, as TensorFlow writes it.
std::array<float, 2> normal_pair(uint32_t x0, uint32_t x1) {
  const float u = std::max(uniform_float(x0), 1.0e-7f);
  const float angle = static_cast<float>(2.0 * std::numbers::pi * uniform_float(x1));
  const float radius = std::sqrt(-2.0f * std::log(u));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

constexpr size_t kAtOnce = kPhiloxBlocks;

// Group g of `out` is made by `make(block g)`.
template <size_t kGroup, class T, class Make>
void fill_groups(Philox gen, std::span<T> out, int64_t grain, Make make) {
  const size_t groups = (out.size() + kGroup - 1) / kGroup;
  parallel_for(static_cast<int64_t>(groups), grain, [&](int64_t begin, int64_t end) {
    auto i = static_cast<size_t>(begin);
    Philox g = gen;
    g.skip(i);
    const size_t whole = std::min(static_cast<size_t>(end), out.size() / kGroup);
    for (; i + kAtOnce <= whole; i += kAtOnce) {
      std::array<Block, kAtOnce> blocks;
      HOLDFAST_BEST_ISA(philox_words(g, kPhiloxBlocks, blocks[0].data()));
      g.skip(kAtOnce);
      for (size_t k = 0; k < kAtOnce; ++k) {
        const auto made = make(blocks[k]);
        for (size_t j = 0; j < kGroup; ++j) out[(i + k) * kGroup + j] = made[j];
      }
    }
    for (; i < static_cast<size_t>(end); ++i) {
      const std::array<T, kGroup> made = make(g());
      std::copy_n(made.begin(), std::min(kGroup, out.size() - i * kGroup), &out[i * kGroup]);
    }
  });
}

template <class T, class Each>
void fill_from_words(Philox gen, std::span<T> out, Each each) {
  fill_groups<4>(gen, out, kUniformGrain, [&](const Block& b) {
    return std::array<T, 4>{each(b[0]), each(b[1]), each(b[2]), each(b[3])};
  });
}
template <class T, class Each>
void fill_from_word_pairs(Philox gen, std::span<T> out, Each each) {
  fill_groups<2>(gen, out, kUniformGrain, [&](const Block& b) {
    return std::array<T, 2>{each(b[0], b[1]), each(b[2], b[3])};
  });
}
template <class T>
void fill_normal_from_floats(Philox gen, std::span<T> out) {
  fill_groups<4>(gen, out, kNormalGrain, [](const Block& b) {
    const auto [n0, n1] = normal_pair(b[0], b[1]);
    const auto [n2, n3] = normal_pair(b[2], b[3]);
    return std::array<T, 4>{from_float<T>(n0), from_float<T>(n1), from_float<T>(n2),
                            from_float<T>(n3)};
  });
}

// Rejection makes the number of blocks per group vary, so every group starts in a region of its
// own: 256 words an element. `draw(block, keep)` offers candidates until keep() says the group is
// full.
template <size_t kGroup, class T, class Draw>
void fill_groups_by_rejection(Philox gen, std::span<T> out, Draw draw) {
  constexpr uint64_t kBlocksPerGroup = kGroup * 256 / 4;
  const auto n = static_cast<int64_t>(out.size());
  const auto group = static_cast<int64_t>(kGroup);
  parallel_for((n + group - 1) / group, kNormalGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Philox g = gen;
      g.skip(static_cast<uint64_t>(i) * kBlocksPerGroup);
      const auto region = out.subspan(static_cast<size_t>(i * group),
                                      static_cast<size_t>(std::min(group, n - i * group)));
      for (size_t filled = 0; filled < region.size();) {
        for (const auto candidate : draw(g())) {
          if (std::abs(candidate) >= 2 || filled == region.size()) continue;
          if constexpr (std::is_same_v<T, double>)
            region[filled++] = candidate;
          else
            region[filled++] = from_float<T>(candidate);
        }
      }
    }
  });
}
template <class T>
void fill_truncated_from_floats(Philox gen, std::span<T> out) {
  fill_groups_by_rejection<4>(gen, out, [](const Block& b) {
    const auto [n0, n1] = normal_pair(b[0], b[1]);
    const auto [n2, n3] = normal_pair(b[2], b[3]);
    return std::array{n0, n1, n2, n3};
  });
}

}  // namespace

Philox Philox::from_seeds(int64_t seed, int64_t seed2) {
  return {.counter_lo = 0,
          .counter_hi = static_cast<uint64_t>(seed2),
          .key = static_cast<uint64_t>(seed)};
}

Philox Philox::from_stateless_seed(int64_t seed0, int64_t seed1) {
  // One block under a fixed key mixes the seeds, so that both may be small numbers.
  Philox mixer{static_cast<uint64_t>(seed0), static_cast<uint64_t>(seed1), 0x02461e293ec8f720u};
  const Block mix = mixer();
  return {.counter_lo = 0, .counter_hi = join(mix[2], mix[3]), .key = join(mix[0], mix[1])};
}

Block Philox::operator()() {
  Block c{low(counter_lo), high(counter_lo), low(counter_hi), high(counter_hi)};
  uint32_t k0 = low(key), k1 = high(key);
  for (int round = 0; round < 10; ++round, k0 += kWeyl0, k1 += kWeyl1) {
    const uint64_t p0 = kFactor0 * c[0], p1 = kFactor1 * c[2];
    c = {high(p1) ^ c[1] ^ k0, low(p1), high(p0) ^ c[3] ^ k1, low(p0)};
  }
  if (++counter_lo == 0) ++counter_hi;
  return c;
}

void Philox::skip(uint64_t blocks) {
  counter_lo += blocks;
  // TensorFlow adds 32 bits at a time and loses the carry where the upper half of `blocks` is full:
  // that is how skipping a negative number goes back.
  const bool lost = high(blocks) == 0xffffffffu && low(counter_lo) < low(blocks);
  if (counter_lo < blocks && !lost) ++counter_hi;
}

double uniform_double(uint32_t high, uint32_t low) {
  return std::bit_cast<double>(join(low, 0x3ff00000u | (high & 0xfffffu))) - 1.0;
}

std::array<double, 2> normal_pair(const Block& b) {
  const double u = std::max(uniform_double(b[0], b[1]), 1.0e-7);
  const double angle = 2 * std::numbers::pi * uniform_double(b[2], b[3]);
  const double radius = std::sqrt(-2.0 * std::log(u));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

double UniformDoubles::operator()() {
  if (left_ == 0) {
    const Block b = gen_();
    pair_ = {uniform_double(b[0], b[1]), uniform_double(b[2], b[3])};
    left_ = 2;
  }
  return pair_[static_cast<size_t>(--left_)];
}

void fill_uniform(Philox gen, std::span<float> out) {
  const auto whole = static_cast<int64_t>(out.size() / (4 * kAtOnce)) * kPhiloxBlocks;
  parallel_for(whole, kUniformGrain, [&](int64_t begin, int64_t end) {
    Philox g = gen;
    g.skip(static_cast<uint64_t>(begin));
    HOLDFAST_BEST_ISA(philox_uniform(g, end - begin, out.data() + begin * 4));
  });
  gen.skip(static_cast<uint64_t>(whole));
  fill_from_words(gen, out.subspan(static_cast<size_t>(whole) * 4), uniform_float);
}
void fill_uniform(Philox gen, std::span<double> out) {
  fill_from_word_pairs(gen, out, uniform_double);
}
void fill_uniform(Philox gen, std::span<Float16Bits> out) {
  fill_from_words(gen, out,
                  [](uint32_t x) { return to_float16(static_cast<float>(x & 0x3ffu) * 0x1p-10f); });
}
void fill_uniform(Philox gen, std::span<BFloat16Bits> out) {
  fill_from_words(gen, out,
                  [](uint32_t x) { return to_bfloat16(static_cast<float>(x & 0x7fu) * 0x1p-7f); });
}

void fill_uniform_int(Philox gen, int32_t lo, int32_t hi, std::span<int32_t> out) {
  const auto base = static_cast<uint32_t>(lo), range = static_cast<uint32_t>(hi) - base;
  fill_from_words(gen, out, [=](uint32_t x) { return static_cast<int32_t>(base + x % range); });
}
void fill_uniform_int(Philox gen, int64_t lo, int64_t hi, std::span<int64_t> out) {
  const auto base = static_cast<uint64_t>(lo), range = static_cast<uint64_t>(hi) - base;
  fill_from_word_pairs(gen, out, [=](uint32_t x0, uint32_t x1) {
    return static_cast<int64_t>(base + join(x0, x1) % range);
  });
}

void fill_uniform_full_int(Philox gen, std::span<int32_t> out) {
  fill_from_words(gen, out, [](uint32_t x) { return static_cast<int32_t>(x); });
}
void fill_uniform_full_int(Philox gen, std::span<uint32_t> out) {
  fill_from_words(gen, out, [](uint32_t x) { return x; });
}
void fill_uniform_full_int(Philox gen, std::span<int64_t> out) {
  fill_from_word_pairs(gen, out,
                       [](uint32_t a, uint32_t b) { return static_cast<int64_t>(join(a, b)); });
}
void fill_uniform_full_int(Philox gen, std::span<uint64_t> out) {
  fill_from_word_pairs(gen, out, join);
}

void fill_normal(Philox gen, std::span<float> out) { fill_normal_from_floats(gen, out); }
void fill_normal(Philox gen, std::span<Float16Bits> out) { fill_normal_from_floats(gen, out); }
void fill_normal(Philox gen, std::span<BFloat16Bits> out) { fill_normal_from_floats(gen, out); }
void fill_normal(Philox gen, std::span<double> out) {
  fill_groups<2>(gen, out, kNormalGrain, [](const Block& b) { return normal_pair(b); });
}

void fill_truncated_normal(Philox gen, std::span<float> out) {
  fill_truncated_from_floats(gen, out);
}
void fill_truncated_normal(Philox gen, std::span<Float16Bits> out) {
  fill_truncated_from_floats(gen, out);
}
void fill_truncated_normal(Philox gen, std::span<BFloat16Bits> out) {
  fill_truncated_from_floats(gen, out);
}
void fill_truncated_normal(Philox gen, std::span<double> out) {
  fill_groups_by_rejection<2>(gen, out, [](const Block& b) { return normal_pair(b); });
}

ThreeFry ThreeFry::from_stateless_seed(int64_t seed0, int64_t seed1) {
  return {.counter = 0, .key = join(static_cast<uint32_t>(seed0), static_cast<uint32_t>(seed1))};
}

std::array<uint32_t, 2> ThreeFry::at(uint64_t offset) const {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k[3] = {low(key), high(key), low(key) ^ high(key) ^ 0x1BD11BDAu};
  uint32_t x0 = low(counter + offset) + k[0], x1 = high(counter + offset) + k[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (const int r : kRotations[group % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, r) ^ x0;
    }
    x0 += k[(group + 1) % 3];
    x1 += k[(group + 2) % 3] + group + 1;
  }
  return {x0, x1};
}

void fill_uniform_full_int(ThreeFry gen, std::span<uint32_t> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = gen.at(i / 2)[i % 2];
}
void fill_uniform_full_int(ThreeFry gen, std::span<uint64_t> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const auto [first, second] = gen.at(i);
    out[i] = join(first, second);
  }
}

}  // namespace holdfast::random
