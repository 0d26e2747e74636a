#include "holdfast/ops/random/generator.h"

#include <algorithm>
#include <cctype>

#include "holdfast/ops/random/seeds.h"

namespace holdfast::random {

std::optional<Algorithm> algorithm_named(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '-' || c == '_' || std::isspace(static_cast<unsigned char>(c))) continue;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (plain == "philox") return Algorithm::kPhilox;
  if (plain == "threefry") return Algorithm::kThreefry;
  if (plain == "autoselect") return Algorithm::kAutoSelect;
  return std::nullopt;
}

size_t state_size(Algorithm alg) { return alg == Algorithm::kThreefry ? 2 : 3; }

std::vector<int64_t> create_rng_state(int64_t seed, Algorithm alg) {
  std::vector<int64_t> state(state_size(alg), seed < 0 ? -1 : 0);
  state[0] = seed;
  return state;
}

std::vector<int64_t> create_rng_state(std::span<const int64_t> seed, Algorithm alg) {
  std::vector<int64_t> state(state_size(alg), 0);
  const size_t n = std::min(seed.size(), state.size());
  std::copy_n(seed.begin(), n, state.end() - static_cast<ptrdiff_t>(n));
  return state;
}

std::vector<int64_t> nondeterministic_state(Algorithm alg) {
  std::vector<int64_t> state(state_size(alg));
  for (int64_t& word : state) word = static_cast<int64_t>(nondeterministic_bits());
  return state;
}

std::vector<int64_t> state_of_key(int64_t key, Algorithm alg) {
  std::vector<int64_t> state(state_size(alg), 0);
  state.back() = key;
  return state;
}

Philox philox_of_state(std::span<const int64_t> state) {
  return {static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[1]),
          static_cast<uint64_t>(state[2])};
}

void store_state(const Philox& gen, std::span<int64_t> state) {
  state[0] = static_cast<int64_t>(gen.counter_lo);
  state[1] = static_cast<int64_t>(gen.counter_hi);
  state[2] = static_cast<int64_t>(gen.key);
}

std::vector<int64_t> read_and_skip(std::span<int64_t> state, Algorithm alg, uint64_t delta) {
  std::vector<int64_t> before(state.begin(), state.end());
  const uint64_t steps = delta * kBlocksPerOutput;
  if (alg == Algorithm::kThreefry) {
    state[0] = static_cast<int64_t>(static_cast<uint64_t>(state[0]) + steps);
  } else {
    Philox gen = philox_of_state(state);
    gen.skip(steps);
    store_state(gen, state);
  }
  return before;
}

uint64_t key_of_replica(uint64_t key, int64_t replica_id) {
  uint64_t mixed = 0;
  fill_uniform_full_int(Philox{static_cast<uint64_t>(replica_id), 0, key}, std::span(&mixed, 1));
  return mixed;
}

}  // namespace holdfast::random
