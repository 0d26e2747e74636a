// Random numbers, with TensorFlow's seeds and streams: the same seeds give the same numbers.
//
// Three families. Ops that take an op seed (`uniform`, `normal`, ...) draw from a stream that the
// global seed and the op seed choose; `stateless_*` are pure functions of a seed tensor of shape
// [2]; a `Generator` keeps its state in a Variable.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "holdfast/op/in.h"
#include "holdfast/op/variable.h"
#include "holdfast/ops/random/generator.h"

namespace holdfast::random {

/// Starts every stream over from `seed`; none forgets the global seed.
HOLDFAST_API void set_seed(std::optional<int64_t> seed);

// -- with an op seed

struct UniformOptions {
  KeptIn minval = 0;
  MaybeIn maxval = std::nullopt;  // 1 for floats; integers need one
  DType dtype = float32;
  std::optional<int64_t> seed = {};
};
/// Uniform in [minval, maxval).
HOLDFAST_API Tensor uniform(const Sizes& shape, const UniformOptions& = {});

struct NormalOptions {
  KeptIn mean = 0.0, stddev = 1.0;
  DType dtype = float32;
  std::optional<int64_t> seed = {};
};
/// Normal with the given mean and standard deviation.
HOLDFAST_API Tensor normal(const Sizes& shape, const NormalOptions& = {});
/// Normal, values further than two standard deviations from the mean drawn again.
HOLDFAST_API Tensor truncated_normal(const Sizes& shape, const NormalOptions& = {});

struct ShuffleOptions {
  std::optional<int64_t> seed = {};
};
/// The rows in a random order.
HOLDFAST_API Tensor shuffle(const In& value, const ShuffleOptions& = {});

struct CategoricalOptions {
  std::optional<DType> dtype = {};  // int64
  std::optional<int64_t> seed = {};
};
/// For each row of unnormalised log-probabilities, `num_samples` class numbers.
HOLDFAST_API Tensor categorical(const In& logits, const Sizes& num_samples,
                                const CategoricalOptions& = {});

struct GammaOptions {
  MaybeIn beta = std::nullopt;  // 1
  DType dtype = float32;
  std::optional<int64_t> seed = {};
};
/// Gamma with shape parameter `alpha` and inverse scale `beta`: `shape` samples of each.
HOLDFAST_API Tensor gamma(const Sizes& shape, const In& alpha, const GammaOptions& = {});

struct PoissonOptions {
  DType dtype = float32;
  std::optional<int64_t> seed = {};
};
/// Poisson with mean `lam`: `shape` samples of each.
HOLDFAST_API Tensor poisson(const Sizes& shape, const In& lam, const PoissonOptions& = {});

struct CandidateOptions {
  std::optional<int64_t> seed = {};
};
/// Sampled classes, how often each true class was to be expected, and each sampled one.
using Candidates = std::tuple<Tensor, Tensor, Tensor>;
/// `num_sampled` classes of [0, range_max), each equally likely.
HOLDFAST_API Candidates uniform_candidate_sampler(const In& true_classes, int64_t num_true,
                                                  int64_t num_sampled, bool unique,
                                                  int64_t range_max, const CandidateOptions& = {});
/// `num_sampled` classes of [0, range_max), likely as words sorted by frequency are.
HOLDFAST_API Candidates log_uniform_candidate_sampler(const In& true_classes, int64_t num_true,
                                                      int64_t num_sampled, bool unique,
                                                      int64_t range_max,
                                                      const CandidateOptions& = {});
/// Every class of [0, num_sampled).
HOLDFAST_API Candidates all_candidate_sampler(const In& true_classes, int64_t num_true,
                                              int64_t num_sampled, bool unique,
                                              const CandidateOptions& = {});

// -- pure functions of a seed

struct StatelessUniformOptions {
  MaybeIn minval = 0, maxval = std::nullopt;  // both left out: any value of an integer dtype
  DType dtype = float32;
  std::string alg = "auto_select";
};
/// Uniform in [minval, maxval), a pure function of `seed`.
HOLDFAST_API Tensor stateless_uniform(const Sizes& shape, const In& seed,
                                      const StatelessUniformOptions& = {});

struct StatelessNormalOptions {
  KeptIn mean = 0.0, stddev = 1.0;
  DType dtype = float32;
  std::string alg = "auto_select";
};
/// Normal with the given mean and standard deviation, a pure function of `seed`.
HOLDFAST_API Tensor stateless_normal(const Sizes& shape, const In& seed,
                                     const StatelessNormalOptions& = {});
/// Normal cut at two standard deviations, a pure function of `seed`.
HOLDFAST_API Tensor stateless_truncated_normal(const Sizes& shape, const In& seed,
                                               const StatelessNormalOptions& = {});

struct StatelessCategoricalOptions {
  DType dtype = int64;
};
/// Class numbers drawn by unnormalised log-probabilities, a pure function of `seed`.
HOLDFAST_API Tensor stateless_categorical(const In& logits, const Sizes& num_samples,
                                          const In& seed, const StatelessCategoricalOptions& = {});

struct StatelessGammaOptions {
  MaybeIn beta = std::nullopt;
  DType dtype = float32;
};
/// Gamma, a pure function of `seed`; `shape` is that of the result and ends with the parameters'.
HOLDFAST_API Tensor stateless_gamma(const Sizes& shape, const In& seed, const In& alpha,
                                    const StatelessGammaOptions& = {});

struct StatelessCountOptions {
  DType dtype = int32;
};
/// Poisson, a pure function of `seed`; `shape` is that of the result and ends with `lam`'s.
HOLDFAST_API Tensor stateless_poisson(const Sizes& shape, const In& seed, const In& lam,
                                      const StatelessCountOptions& = {});
/// Successes among `counts` trials of probability `probs`, a pure function of `seed`.
HOLDFAST_API Tensor stateless_binomial(const Sizes& shape, const In& seed, const In& counts,
                                       const In& probs, const StatelessCountOptions& = {});

struct BoundedNormalOptions {
  KeptIn means = 0.0, stddevs = 1.0, minvals = -2.0, maxvals = 2.0;
};
/// Normal between bounds, a pure function of `seed`; `shape` ends with that of the parameters.
HOLDFAST_API Tensor stateless_parameterized_truncated_normal(const Sizes& shape, const In& seed,
                                                             const BoundedNormalOptions& = {});

struct AlgOptions {
  std::string alg = "auto_select";
};
/// The rows in an order that is a pure function of `seed`.
HOLDFAST_API Tensor stateless_shuffle(const In& value, const In& seed, const AlgOptions& = {});
/// Where `index` goes in a permutation of [0, max_index] that is never laid out in memory.
HOLDFAST_API Tensor index_shuffle(const In& index, const In& seed, const In& max_index);

struct SplitOptions {
  int64_t num = 2;
  std::string alg = "auto_select";
};
/// `num` seeds, independent of each other and of `seed`.
HOLDFAST_API Tensor split(const In& seed, const SplitOptions& = {});
/// A seed made of `seed` and an integer, such as the number of a step.
HOLDFAST_API Tensor fold_in(const In& seed, const In& data, const AlgOptions& = {});

// -- generators with a state of their own

struct GeneratorNormalOptions {
  KeptIn mean = 0.0, stddev = 1.0;
  DType dtype = float32;
};
struct GeneratorUniformOptions {
  MaybeIn minval = 0, maxval = std::nullopt;
  DType dtype = float32;
};

/// A stream whose state is a Variable: it can be saved, restored, copied and split.
/// Copies of a Generator share the state; `clone` makes one of its own.
class HOLDFAST_API Generator {
 public:
  static Generator from_seed(int64_t seed, Algorithm alg = Algorithm::kPhilox);
  static Generator from_seed(std::span<const int64_t> seed, Algorithm alg = Algorithm::kPhilox);
  static Generator from_state(const In& state, Algorithm alg);
  static Generator from_key_counter(const In& key, const In& counter, Algorithm alg);
  static Generator from_non_deterministic_state(Algorithm alg = Algorithm::kPhilox);
  Generator clone() const;

  void reset(const In& state) const;
  void reset_from_seed(int64_t seed) const;
  void reset_from_key_counter(const In& key, const In& counter) const;

  /// The state: counter, then key.
  const Variable& state() const { return state_; }
  Algorithm algorithm() const { return alg_; }
  Tensor key() const;
  /// Moves on as if `delta` numbers had been drawn; returns the state before.
  Tensor skip(const In& delta) const;
  /// [2, count]: columns are seeds for stateless functions.
  Tensor make_seeds(int64_t count = 1) const;
  /// Generators independent of this one and of each other.
  std::vector<Generator> split(int64_t count = 1) const;

  Tensor normal(const Sizes& shape, const GeneratorNormalOptions& = {}) const;
  Tensor truncated_normal(const Sizes& shape, const GeneratorNormalOptions& = {}) const;
  Tensor uniform(const Sizes& shape, const GeneratorUniformOptions& = {}) const;
  Tensor uniform_full_int(const Sizes& shape, DType dtype = uint64) const;
  Tensor binomial(const Sizes& shape, const In& counts, const In& probs, DType dtype = int32) const;

 private:
  Generator(Variable state, Algorithm alg) : state_(std::move(state)), alg_(alg) {}
  Variable state_;
  Algorithm alg_;
};

/// The generator of this process; made from the system's randomness unless one was set.
HOLDFAST_API Generator get_global_generator();
HOLDFAST_API void set_global_generator(const Generator& generator);

/// The state a generator has that starts from `seed`: an integer, or a vector of them.
HOLDFAST_API Tensor rng_state(const In& seed, Algorithm alg);

}  // namespace holdfast::random
