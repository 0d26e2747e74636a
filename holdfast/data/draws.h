// Random numbers of stages: TensorFlow's for the same seeds.
#pragma once

#include <mutex>
#include <optional>

#include "holdfast/data/of_call.h"
#include "holdfast/ops/random/philox.h"

namespace holdfast::data {

struct SeedPair {
  int64_t first = 0, second = 0;
};

/// Draws numbers of 32 bits, as TensorFlow does one by one.
struct Draws {
  Draws() = default;
  explicit Draws(const SeedPair& s) : philox(random::Philox::from_seeds(s.first, s.second)) {}
  uint32_t operator()() {
    if (used == 4) {
      block = philox();
      used = 0;
    }
    ++count;
    return block[static_cast<size_t>(used++)];
  }
  void skip(int64_t n) {
    philox.skip(static_cast<uint64_t>(n / 4));
    count += n / 4 * 4;
    for (int64_t i = 0; i < n % 4; ++i) (*this)();
  }
  random::Philox philox;
  random::Block block{};
  int used = 4;
  int64_t count = 0;  // so many so far
};

/// The seeds of a stage, of which each of its iterations takes two: the same ones, or fresh ones.
class SeedsOfStage {
 public:
  SeedsOfStage(std::optional<int64_t> seed, bool anew);
  SeedPair next() const;
  void add_open(std::vector<Tensor>& to) const { kept_.add_open(to); }
  /// How many fresh ones there were, for saved positions.
  int64_t drawn() const;
  void set_drawn(int64_t count) const;

 private:
  struct Kept final : RefCounted {
    explicit Kept(const SeedPair& s) : seeds(s), fresh(s) {}
    const SeedPair seeds;
    std::mutex mutex;
    Draws fresh;
  };
  bool anew_;
  OfCall<Kept> kept_;
};

}  // namespace holdfast::data
