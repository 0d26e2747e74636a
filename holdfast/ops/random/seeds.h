// Which seeds an op gets, and where its generator stands: the rules of `tf.random.set_seed`.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "holdfast/base/api.h"
#include "holdfast/base/refcount.h"
#include "holdfast/ops/random/philox.h"

namespace holdfast::random {

/// Mersenne Twister seeded as Python's `random.Random(seed)`: TensorFlow draws op seeds from it.
class HOLDFAST_API PythonRandom {
 public:
  explicit PythonRandom(int64_t seed);
  /// `getrandbits(32)`.
  uint32_t next();
  /// `randint(0, 2**31 - 1)`.
  int64_t operation_seed();

 private:
  std::array<uint32_t, 624> state_;
  size_t at_ = 624;
};

/// The attributes `seed` and `seed2` of an op; both 0 ask for a generator nobody can predict.
struct OpSeeds {
  int64_t seed = 0;
  int64_t seed2 = 0;
  /// Drawn for one call: no later call of the op will have these seeds.
  bool drawn = false;
  bool nondeterministic() const { return seed == 0 && seed2 == 0; }
};

/// 64 bits from the system's source of randomness.
HOLDFAST_API uint64_t nondeterministic_bits();
/// Where the generator of a new op stands, random if the seeds say so.
HOLDFAST_API Philox first_position(const OpSeeds& seeds);

/// The seeds of eager ops. One per Context; safe to use from many threads.
class HOLDFAST_API SeedState {
 public:
  /// `tf.random.set_seed`: starts over everything that hangs on seeds. None forgets the global
  /// seed.
  void set_seed(std::optional<int64_t> seed);
  std::optional<int64_t> global_seed() const;
  /// How often `set_seed` was called.
  uint64_t begun() const { return begun_.load(std::memory_order_relaxed); }

  /// `random_seed.get_seed` when executing eagerly.
  OpSeeds op_seeds(std::optional<int64_t> op_seed);

  /// The generator for one eager call that may use `blocks`. Calls with the same `op` and seeds
  /// continue one stream until set_seed. `op` names the op and every attribute but the seeds, and
  /// the device: what TensorFlow keys its cache of kernels by.
  Philox reserve(std::string_view op, const OpSeeds& seeds, uint64_t blocks);

 private:
  mutable std::mutex mutex_;
  std::optional<int64_t> global_;
  std::optional<PythonRandom> drawing_;
  std::atomic<uint64_t> begun_{0};
  std::unordered_map<std::string, Philox> positions_;
};

/// The seeds of the ops of one graph under construction. A traced function takes the global seed
/// as it is when the trace begins, a graph written by hand has none until it is given one; ops
/// without a seed of their own are numbered from 0.
class HOLDFAST_API GraphSeeds {
 public:
  explicit GraphSeeds(std::optional<int64_t> global_seed) : global_(global_seed) {}
  OpSeeds op_seeds(std::optional<int64_t> op_seed);
  const std::optional<int64_t>& global_seed() const { return global_; }
  /// The seed of ops from now on; their numbers go on.
  void set_global_seed(std::optional<int64_t> seed) { global_ = seed; }

 private:
  std::optional<int64_t> global_;
  int64_t unseeded_ = 0;
};

/// The generator of one random node of a graph, which all calls of the function share. `set_seed`
/// starts it over, from the seeds that the node has had since it was traced.
class HOLDFAST_API NodeGenerator final : public RefCounted {
 public:
  explicit NodeGenerator(const OpSeeds& seeds) : seeds_(seeds), position_(first_position(seeds)) {}
  /// The generator for one run of the node that may use `blocks`; `begun` counts calls of
  /// `set_seed`.
  Philox reserve(uint64_t blocks, uint64_t begun = 0);

 private:
  std::mutex mutex_;
  const OpSeeds seeds_;
  Philox position_;
  std::optional<uint64_t> begun_;
};

}  // namespace holdfast::random
