#include "holdfast/keras/seed_generator.h"

#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "holdfast/base/text.h"
#include "holdfast/graph/name_scope.h"
#include "holdfast/keras/layer.h"
#include "holdfast/op/context.h"
#include "holdfast/op/creation.h"
#include "holdfast/ops/constant.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"

namespace holdfast::keras {

const ObjectClass SeedGenerator::kClass{"SeedGenerator"};

Config OptionType<Seed>::get(const Seed& v) {
  return v.stream ? Config(Ref<Object>(v.stream)) : Config(v.number);
}

void OptionType<Seed>::set(Seed& v, const Config& c, const std::string& what) {
  if (auto* stream = c.live() ? dynamic_cast<SeedSource*>(c.live()) : nullptr) {
    v = Ref<SeedSource>(stream);
    return;
  }
  const bool described =
      c.kind() == Config::Kind::kObject && c.as_object().class_name == "SeedGenerator";
  if (!described) {
    std::optional<int64_t> number;
    OptionType<std::optional<int64_t>>::set(number, c, what);
    v = number;
    return;
  }
  std::optional<int64_t> seed;
  std::string name;
  for (const auto& [key, value] : c.as_object().config) {
    if (key == "seed")
      OptionType<std::optional<int64_t>>::set(seed, value, cat("`seed` of ", what));
    else if (key == "name")
      name = value.is_null() ? "" : value.as_text(cat("`name` of ", what));
    else
      unknown_identifier(cat("an option of the SeedGenerator of ", what), key, {"name", "seed"});
  }
  v = make_ref<SeedGenerator>(seed, name);
}

Config SeedGenerator::config() const {
  ConfigDict out{{"seed", Config(seed_)}};
  out.set("name", name_.empty() ? Config() : Config(name_));
  return ConfigObject{"SeedGenerator", out, {}};
}

namespace {

/// A stream without a seed gives other numbers at each call, as one that is made anew would: a
/// traced function may make a Dropout and let it go, and its graph keeps the stream.
class Unwatched {
 public:
  Unwatched() = default;
  ~Unwatched() { creation_watcher() = around_; }
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;

 private:
  CreationWatcher* around_ = std::exchange(creation_watcher(), nullptr);
};

}  // namespace

const Variable& SeedGenerator::state() {
  std::lock_guard lock(mutex_);
  if (state_.defined()) return state_;
  InterpreterScope eagerly(nullptr);  // once, also if it is wanted first while a function is traced
  NoTapes unseen;
  if (name_.empty()) name_ = unique_layer_name("seed_generator");
  NameScope whole(name_ + "/");
  std::optional<Unwatched> free;
  if (!seed_) free.emplace();
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
  return drawn_seed(now);
}

Tensor drawn_seed(const Tensor& pair) {
  return cast(floormod(pair, std::numeric_limits<int32_t>::max() - 1), int32);
}

namespace {
AttributeSeeds attribute_seeds = nullptr;
}  // namespace
void set_attribute_seeds(AttributeSeeds found) { attribute_seeds = found; }

std::vector<Variable> seed_states(const Layer& layer) {
  std::vector<Variable> out;
  if (auto* draws = dynamic_cast<const DrawsSeeds*>(&layer))
    if (SeedSource* seeds = draws->seeds()) out.push_back(seeds->state());
  if (attribute_seeds && layer.shared())
    for (const Variable& v : attribute_seeds(layer)) out.push_back(v);
  return out;
}

SeedSource* DrawsSeeds::seeds() const {
  Start start = seed_start();
  if (!start.draws) return nullptr;
  std::lock_guard lock(making_);
  if (!seeds_)
    seeds_ = start.seed.stream ? start.seed.stream : make_ref<SeedGenerator>(start.seed.number);
  return seeds_.get();
}

}  // namespace holdfast::keras
