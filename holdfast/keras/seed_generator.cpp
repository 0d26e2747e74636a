#include "holdfast/keras/seed_generator.h"

#include <limits>

#include "holdfast/graph/name_scope.h"
#include "holdfast/op/context.h"
#include "holdfast/ops/constant.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"

namespace holdfast::keras {

const Variable& SeedGenerator::state() {
  std::lock_guard lock(mutex_);
  if (state_.defined()) return state_;
  InterpreterScope eagerly(nullptr);  // once, also if it is wanted first while a function is traced
  NoObservers unseen;
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

}  // namespace holdfast::keras
