// What `tf.random.Generator` does with its state: a vector of int64 that an op layer keeps in a
// Variable. The state is counter then key: [lo, hi, key] for Philox, [counter, key] for ThreeFry.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "holdfast/base/api.h"
#include "holdfast/ops/random/philox.h"

namespace holdfast::random {

/// Values are TensorFlow's. kAutoSelect means Philox wherever we run.
enum class Algorithm : int32_t { kPhilox = 1, kThreefry = 2, kAutoSelect = 3 };

/// "philox", "threefry", "auto_select", in any case and with or without - and _.
HOLDFAST_API std::optional<Algorithm> algorithm_named(std::string_view name);

/// How many int64 the state has: 3, or 2 for ThreeFry.
HOLDFAST_API size_t state_size(Algorithm alg);

/// `tf.random.create_rng_state` of an integer.
HOLDFAST_API std::vector<int64_t> create_rng_state(int64_t seed, Algorithm alg);
/// ... of a vector: its first entries, zeros in front if it is short. An integer beyond 64 bits
/// comes as its 64-bit digits, lowest first, sign-extended to state_size.
HOLDFAST_API std::vector<int64_t> create_rng_state(std::span<const int64_t> seed, Algorithm alg);
/// The state of `Generator.from_non_deterministic_state`.
HOLDFAST_API std::vector<int64_t> nondeterministic_state(Algorithm alg);
/// The state of a generator with this key at counter 0, as `split` makes them.
HOLDFAST_API std::vector<int64_t> state_of_key(int64_t key, Algorithm alg);

/// The state as a generator, and back. The span has state_size elements.
HOLDFAST_API Philox philox_of_state(std::span<const int64_t> state);
HOLDFAST_API void store_state(const Philox& gen, std::span<int64_t> state);

/// RngReadAndSkip: returns the state as it was and moves `state` on by `delta` outputs. Every
/// method that draws does this with delta = the number of elements it makes (1 for a scalar).
HOLDFAST_API std::vector<int64_t> read_and_skip(std::span<int64_t> state, Algorithm alg,
                                                uint64_t delta);

/// The key a replica of a distribution strategy uses in place of the state's.
HOLDFAST_API uint64_t key_of_replica(uint64_t key, int64_t replica_id);

}  // namespace holdfast::random
