#include "holdfast/ops/random/seeds.h"

#include <algorithm>
#include <mutex>
#include <random>

namespace holdfast::random {
namespace {

constexpr int64_t kDefaultGraphSeed = 87654321;
constexpr int64_t kMaxInt32 = (int64_t{1} << 31) - 1;

// Python's remainder: never negative.
int64_t truncated(int64_t seed) {
  const int64_t rest = seed % kMaxInt32;
  return rest < 0 ? rest + kMaxInt32 : rest;
}

// `draw()` gives the seed of an op that has none while there is a global seed.
template <class Draw>
OpSeeds combine(std::optional<int64_t> global, std::optional<int64_t> op_seed, Draw draw) {
  if (!global && !op_seed) return {};
  OpSeeds seeds{.seed = global ? truncated(*global) : kDefaultGraphSeed,
                .seed2 = truncated(op_seed ? *op_seed : draw())};
  if (seeds.nondeterministic()) seeds.seed2 = kMaxInt32;  // both were given, so both count
  return seeds;
}

Philox advance(Philox& position, uint64_t blocks) {
  const Philox start = position;
  position.skip(blocks);
  return start;
}

}  // namespace

PythonRandom::PythonRandom(int64_t seed) {
  // Python seeds with the 32-bit digits of the absolute value, at least one.
  const uint64_t value = seed < 0 ? 0 - static_cast<uint64_t>(seed) : static_cast<uint64_t>(seed);
  const std::array<uint32_t, 2> digits{static_cast<uint32_t>(value),
                                       static_cast<uint32_t>(value >> 32)};
  const uint32_t length = digits[1] ? 2 : 1;
  constexpr uint32_t n = 624;

  auto& s = state_;
  s[0] = 19650218;
  for (uint32_t i = 1; i < n; ++i) s[i] = 1812433253u * (s[i - 1] ^ s[i - 1] >> 30) + i;
  uint32_t i = 1;
  const auto step = [&](uint32_t factor, uint32_t added) {
    s[i] = (s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * factor) + added;
    if (++i == n) {
      s[0] = s[n - 1];
      i = 1;
    }
  };
  for (uint32_t k = 0; k < n; ++k) step(1664525u, digits[k % length] + k % length);
  for (uint32_t k = 1; k < n; ++k) step(1566083941u, 0 - i);
  s[0] = 0x80000000u;
}

uint32_t PythonRandom::next() {
  constexpr size_t n = 624, m = 397;
  if (at_ == n) {
    for (size_t i = 0; i < n; ++i) {
      const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % n] & 0x7fffffffu);
      state_[i] = state_[(i + m) % n] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0u);
    }
    at_ = 0;
  }
  uint32_t y = state_[at_++];
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}

int64_t PythonRandom::operation_seed() {
  // Python asks for 32 bits, enough to hold 2**31, and draws again above the range.
  uint32_t bits = next();
  while (bits > kMaxInt32) bits = next();
  return bits;
}

uint64_t nondeterministic_bits() {
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
}

Philox first_position(const OpSeeds& seeds) {
  if (!seeds.nondeterministic()) return Philox::from_seeds(seeds.seed, seeds.seed2);
  return {0, nondeterministic_bits(), nondeterministic_bits()};
}

void SeedState::set_seed(std::optional<int64_t> seed) {
  std::scoped_lock lock(mutex_);
  global_ = seed;
  begun_.fetch_add(1, std::memory_order_relaxed);
  drawing_.reset();
  if (seed) drawing_.emplace(*seed);
  positions_.clear();
}

std::optional<int64_t> SeedState::global_seed() const {
  std::scoped_lock lock(mutex_);
  return global_;
}

OpSeeds SeedState::op_seeds(std::optional<int64_t> op_seed) {
  std::scoped_lock lock(mutex_);
  OpSeeds seeds = combine(global_, op_seed, [&] { return drawing_->operation_seed(); });
  seeds.drawn = global_ && !op_seed;
  return seeds;
}

Philox SeedState::reserve(std::string_view op, const OpSeeds& seeds, uint64_t blocks) {
  // Remembering drawn seeds would only let the table grow by one entry a call.
  if (seeds.drawn) return first_position(seeds);
  std::string key(op);
  key += '\0';
  key += std::to_string(seeds.seed) + ',' + std::to_string(seeds.seed2);
  std::scoped_lock lock(mutex_);
  auto it = positions_.find(key);
  if (it == positions_.end()) it = positions_.emplace(std::move(key), first_position(seeds)).first;
  return advance(it->second, blocks);
}

OpSeeds GraphSeeds::op_seeds(std::optional<int64_t> op_seed) {
  return combine(global_, op_seed, [&] { return unseeded_++; });
}

Philox NodeGenerator::reserve(uint64_t blocks, uint64_t begun) {
  std::scoped_lock lock(mutex_);
  if (begun_ && *begun_ != begun) position_ = first_position(seeds_);
  begun_ = begun;
  return advance(position_, blocks);
}

}  // namespace holdfast::random
