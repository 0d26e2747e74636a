// Seeds for layers that draw random numbers: a stream of its own for each of them.
#pragma once

#include <optional>
#include <vector>

#include "holdfast/base/mutex.h"
#include "holdfast/op/variable.h"

namespace holdfast::keras {

class Layer;

/// Gives a new seed each time it is asked, in traced code as well. The same start gives the same
/// seeds; without one, it comes from the global stream of random numbers.
class HOLDFAST_API SeedGenerator {
 public:
  explicit SeedGenerator(std::optional<int64_t> seed = {}) : seed_(seed) {}
  /// Two integers, for functions such as `random::stateless_uniform`.
  Tensor next();
  /// Where it stands: the seed, and how often it was asked.
  const Variable& state();

 private:
  std::optional<int64_t> seed_;
  Mutex mutex_;
  Variable state_;  // made when it is wanted first
};

/// What layers are that draw random numbers: each has a stream of its own, whose state is one of
/// the layer's variables, and none of its weights.
class HOLDFAST_API DrawsSeeds {
 public:
  virtual ~DrawsSeeds() = default;
  /// The stream; null where nothing is ever drawn.
  SeedGenerator* seeds() const;

 protected:
  struct Start {
    bool draws = true;
    std::optional<int64_t> seed = {};
  };
  virtual Start seed_start() const = 0;
  /// The next seed of a layer that draws.
  Tensor next_seed() const { return seeds()->next(); }

 private:
  mutable Mutex making_;
  mutable std::optional<SeedGenerator> seeds_;
};

/// The weights of a layer and the states of its streams of seeds, each after the weights of the
/// layer that draws from it.
HOLDFAST_API std::vector<Variable> variables_and_seeds(const Layer&);
/// The states of streams that a layer itself holds.
HOLDFAST_API std::vector<Variable> seed_states(const Layer&);
/// The states of streams that a program of another language has put on a layer as attributes; set
/// by its binding.
using AttributeSeeds = std::vector<Variable> (*)(const Layer&);
HOLDFAST_API void set_attribute_seeds(AttributeSeeds);

}  // namespace holdfast::keras
