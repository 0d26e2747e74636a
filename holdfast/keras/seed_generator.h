// Seeds for layers that draw random numbers: a stream of its own for each of them.
#pragma once

#include <vector>

#include "holdfast/base/mutex.h"
#include "holdfast/keras/seed.h"
#include "holdfast/op/variable.h"

namespace holdfast::keras {

class Layer;

/// Gives a new seed each time it is asked, in traced code as well. The same start gives the same
/// seeds; without one, it comes from the global stream of random numbers.
class HOLDFAST_API SeedGenerator final : public SeedSource {
 public:
  static const ObjectClass kClass;
  explicit SeedGenerator(std::optional<int64_t> seed = {}, std::string name = {})
      : seed_(seed), name_(std::move(name)) {}
  const ObjectClass& object_class() const override { return kClass; }
  Tensor next() override;
  const Variable& state() override;
  Config config() const override;

 private:
  std::optional<int64_t> seed_;
  std::string name_;
  Mutex mutex_;
  Variable state_;  // made when it is wanted first
};

/// A seed of two integers as stateless ops take it: Keras brings it below 2^31 - 2 on TensorFlow.
HOLDFAST_API Tensor drawn_seed(const Tensor& pair);

/// What layers are that draw random numbers: each has a stream of its own or the one it was given,
/// whose state is one of the layer's variables, and none of its weights.
class HOLDFAST_API DrawsSeeds {
 public:
  virtual ~DrawsSeeds() = default;
  /// The stream; null where nothing is ever drawn.
  SeedSource* seeds() const;

 protected:
  struct Start {
    bool draws = true;
    Seed seed = {};
  };
  virtual Start seed_start() const = 0;
  /// The next seed of a layer that draws.
  Tensor next_seed() const { return seeds()->next(); }

 private:
  mutable Mutex making_;
  mutable Ref<SeedSource> seeds_;
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
