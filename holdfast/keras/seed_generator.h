// Seeds for layers that draw random numbers: a stream of its own for each of them.
#pragma once

#include <mutex>
#include <optional>

#include "holdfast/op/variable.h"

namespace holdfast::keras {

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
  std::mutex mutex_;
  Variable state_;  // made when it is wanted first
};

}  // namespace holdfast::keras
