#include "holdfast/keras/seed_generator.h"

#include <limits>
#include <mutex>

#include "holdfast/graph/name_scope.h"
#include "holdfast/keras/layer.h"
#include "holdfast/op/context.h"
#include "holdfast/ops/constant.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"

namespace holdfast::keras {

const Variable& SeedGenerator::state() {
  std::lock_guard lock(mutex_);
  if (state_.defined()) return state_;
  InterpreterScope eagerly(nullptr);  // once, also if it is wanted first while a function is traced
  NoTapes unseen;
  NameScope whole(unique_layer_name("seed_generator") + "/");
  int64_t start = seed_ ? *seed_
                        : random::uniform({}, {.minval = 1, .maxval = 1000000000, .dtype = int64})
                              .item<int64_t>();
  state_ = Variable(Tensor::of<int64_t>({start, 0}),
                    {.trainable = false, .name = "seed_generator_state"});
  return state_;
}

Tensor SeedGenerator::next() {
  const Variable& at = state();
  Tensor now = at.read();
  at.assign(now + Tensor::of<int64_t>({0, 1}));
  return cast(floormod(now, std::numeric_limits<int32_t>::max() - 1), int32);
}

namespace {
AttributeSeeds attribute_seeds = nullptr;
}  // namespace
void set_attribute_seeds(AttributeSeeds found) { attribute_seeds = found; }

std::vector<Variable> seed_states(const Layer& layer) {
  std::vector<Variable> out;
  if (auto* draws = dynamic_cast<const DrawsSeeds*>(&layer))
    if (SeedGenerator* seeds = draws->seeds()) out.push_back(seeds->state());
  if (attribute_seeds && layer.shared())
    for (const Variable& v : attribute_seeds(layer)) out.push_back(v);
  return out;
}

SeedGenerator* DrawsSeeds::seeds() const {
  Start start = seed_start();
  if (!start.draws) return nullptr;
  std::lock_guard lock(making_);
  if (!seeds_) seeds_.emplace(start.seed);
  return &*seeds_;
}

}  // namespace holdfast::keras
