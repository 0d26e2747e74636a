#include "holdfast/data/draws.h"

#include <mutex>

#include "holdfast/data/bound.h"
#include "holdfast/ops/random/streams.h"

namespace holdfast::data {

namespace {

random::OpSeeds seeds_for(std::optional<int64_t> seed) {
  random::GraphSeeds* graph = random::seed_scope().graph;
  return graph ? graph->op_seeds(seed) : random::seed_state().op_seeds(seed);
}

}  // namespace

SeedsOfStage::SeedsOfStage(std::optional<int64_t> seed, bool anew)
    : anew_(anew), kept_([given = seeds_for(seed)] {
        SeedPair seeds{given.seed, given.seed2};
        if (given.nondeterministic()) {
          seeds.first = static_cast<int64_t>(random::nondeterministic_bits());
          seeds.second = static_cast<int64_t>(random::nondeterministic_bits());
        }
        return make_ref<Kept>(seeds);
      }) {}

SeedPair SeedsOfStage::next() const {
  Ref<Kept> kept = kept_.now();
  const auto& now = Working::current();
  const Order order = now ? now->order() : Order::kDrawn;
  if (!anew_ || order == Order::kOfNumbers) return kept->seeds;
  if (order == Order::kFirst) {
    Draws first(kept->seeds);
    int64_t one = first(), other = first();
    return {one, other};
  }
  std::lock_guard lock(kept->mutex);
  int64_t first = kept->fresh(), second = kept->fresh();
  return {first, second};
}

int64_t SeedsOfStage::drawn() const {
  Ref<Kept> kept = kept_.now();
  std::lock_guard lock(kept->mutex);
  return kept->fresh.count;
}

void SeedsOfStage::set_drawn(int64_t count) const {
  Ref<Kept> kept = kept_.now();
  std::lock_guard lock(kept->mutex);
  kept->fresh = Draws(kept->seeds);
  kept->fresh.skip(count);
}

}  // namespace holdfast::data
