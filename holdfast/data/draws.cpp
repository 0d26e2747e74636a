#include "holdfast/data/draws.h"

#include <mutex>

#include "holdfast/data/bound.h"
#include "holdfast/ops/random/streams.h"

namespace holdfast::data {

SeedsOfStage::SeedsOfStage(std::optional<int64_t> seed, bool anew)
    : anew_(anew), shared_(make_ref<Shared>()) {
  random::GraphSeeds* graph = random::seed_scope().graph;
  random::OpSeeds seeds = graph ? graph->op_seeds(seed) : random::seed_state().op_seeds(seed);
  if (seeds.nondeterministic()) {
    seeds.seed = static_cast<int64_t>(random::nondeterministic_bits());
    seeds.seed2 = static_cast<int64_t>(random::nondeterministic_bits());
  }
  seeds_ = {seeds.seed, seeds.seed2};
  shared_->fresh = Draws(seeds_);
}

SeedPair SeedsOfStage::next() const {
  if (!anew_) return seeds_;
  if (const auto& now = Working::current(); now && now->in_first_order()) {
    Draws first(seeds_);
    int64_t one = first(), other = first();
    return {one, other};
  }
  std::lock_guard lock(shared_->mutex);
  int64_t first = shared_->fresh(), second = shared_->fresh();
  return {first, second};
}

int64_t SeedsOfStage::drawn() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->fresh.count;
}

void SeedsOfStage::set_drawn(int64_t count) const {
  std::lock_guard lock(shared_->mutex);
  shared_->fresh = Draws(seeds_);
  shared_->fresh.skip(count);
}

}  // namespace holdfast::data
