#include "holdfast/data/bound.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/inner.h"

namespace holdfast::data {
namespace {

thread_local Ref<Iteration> t_iteration;

class Looking final : public Visitor {
 public:
  void object(const Object& child) override {
    if (!seen_.insert(&child).second) return;
    if (auto* holder = dynamic_cast<const MayBeOpen*>(&child)) {
      std::vector<Tensor> held;
      holder->add_open(held);
      for (const Tensor& t : held) add(t);
    }
    child.visit(*this);
  }
  std::vector<Tensor> found;

 private:
  void add(const Tensor& t) {
    if (DatasetObject* inside = dataset_in(t)) return object(*inside);
    bool known = std::any_of(found.begin(), found.end(),
                             [&](const Tensor& other) { return other.id() == t.id(); });
    if (t.is_symbolic() && !known) found.push_back(t);
  }
  std::unordered_set<const Object*> seen_;
};

}  // namespace

std::vector<Tensor> open_tensors(const DatasetObject& dataset) {
  Looking looking;
  looking.object(dataset);
  return std::move(looking.found);
}

void Iteration::add(const Generator* running) {
  std::lock_guard lock(mutex_);
  generators_.push_back(running);
}
void Iteration::remove(const Generator* running) {
  std::lock_guard lock(mutex_);
  std::erase(generators_, running);
}
void Iteration::add(const DatasetObject* stage) {
  std::lock_guard lock(mutex_);
  stages_.push_back(stage);
}
void Iteration::remove(const DatasetObject* stage) {
  std::lock_guard lock(mutex_);
  auto found = std::find(stages_.rbegin(), stages_.rend(), stage);  // the youngest go first
  if (found != stages_.rend()) stages_.erase(std::next(found).base());
}
void Iteration::visit(Visitor& see) const {
  std::lock_guard lock(mutex_);
  for (const Generator* running : generators_) running->visit(see);
  for (const DatasetObject* stage : stages_) see.object(*stage);
  for (const auto& [of, made] : made_) see.object(*made);
  for (const Ref<Drawn>& each : drawn_) see.object(*each->function);
}
Ref<DatasetObject> Iteration::made_by(uint64_t stage) const {
  std::lock_guard lock(mutex_);
  for (const auto& [of, made] : made_)
    if (of == stage) return made;
  return nullptr;
}
void Iteration::keep(uint64_t stage, Ref<DatasetObject> made) {
  std::lock_guard lock(mutex_);
  made_.emplace_back(stage, std::move(made));
}

StageHold::StageHold(const DatasetObject* stage)
    : stage_(stage), iteration_(Ref<RefCounted>(Working::current())) {
  if (iteration_) static_cast<Iteration&>(*iteration_).add(stage);
}
StageHold::~StageHold() {
  if (iteration_) static_cast<Iteration&>(*iteration_).remove(stage_.get());
}

Working::Working(Ref<Iteration> on) : before_(std::exchange(t_iteration, std::move(on))) {}
Working::~Working() { t_iteration = std::move(before_); }
const Ref<Iteration>& Working::current() { return t_iteration; }

DrawingForIteration::DrawingForIteration(const Object& function)
    : function_(function), iteration_(t_iteration.get()), before_(random::stream_source()) {
  random::stream_source() = iteration_ ? this : nullptr;
}
DrawingForIteration::~DrawingForIteration() { random::stream_source() = before_; }
random::Philox DrawingForIteration::reserve(random::NodeGenerator& node,
                                            const random::OpSeeds& seeds, uint64_t blocks) {
  return iteration_->drawn_by(function_)->streams.reserve(node, seeds, blocks);
}

Ref<Drawn> Iteration::drawn_by(const Object& function) {
  std::vector<Ref<Drawn>> gone;  // may run a program's code when they go: not under the lock
  std::lock_guard lock(mutex_);
  if (Ref<Drawn> found = drawn_so_far(function)) return found;
  // Functions of datasets that a function made come and go: nobody else holds those that went.
  auto left = std::stable_partition(drawn_.begin(), drawn_.end(), [](const Ref<Drawn>& each) {
    return !each->function->unique();
  });
  gone.assign(std::move_iterator(left), std::move_iterator(drawn_.end()));
  drawn_.erase(left, drawn_.end());
  drawn_.push_back(make_ref<Drawn>(function));
  return drawn_.back();
}

Ref<Drawn> Iteration::found_drawn(const Object& function) const {
  std::lock_guard lock(mutex_);
  return drawn_so_far(function);
}

Ref<Drawn> Iteration::drawn_so_far(const Object& function) const {
  for (const Ref<Drawn>& each : drawn_)
    if (each->function.get() == &function) return each;
  return nullptr;
}

void save_draws(const ElementFunction& function, Saving& to) {
  std::vector<random::OwnStreams::Position> all;
  if (t_iteration)
    if (Ref<Drawn> drawn = t_iteration->found_drawn(function.draws_as()))
      all = drawn->streams.positions();
  to.number(static_cast<int64_t>(all.size()));
  for (const auto& p : all) {
    to.number(p.seeds.seed);
    to.number(p.seeds.seed2);
    for (uint64_t word : {p.at.counter_lo, p.at.counter_hi, p.at.key})
      to.number(static_cast<int64_t>(word));
  }
}

void restore_draws(const ElementFunction& function, Restoring& from) {
  std::vector<random::OwnStreams::Position> all;
  for (int64_t n = from.count(); n > 0; --n) {
    random::OwnStreams::Position p;
    p.seeds.seed = from.number();
    p.seeds.seed2 = from.number();
    for (uint64_t* word : {&p.at.counter_lo, &p.at.counter_hi, &p.at.key})
      *word = static_cast<uint64_t>(from.number());
    all.push_back(p);
  }
  if (t_iteration && !all.empty())
    t_iteration->drawn_by(function.draws_as())->streams.begin_at(std::move(all));
}

Tensor bound(const Tensor& t, const char* stage) {
  if (!t.is_symbolic()) return t;
  if (const Bound* here = t_iteration ? t_iteration->bound.get() : nullptr)
    for (size_t i = 0; i < here->symbols.size(); ++i)
      if (here->symbols[i].id() == t.id()) return here->values[i];
  refuse_symbols(stage);
}

Nested bound(const Nested& element, const char* stage) {
  return element.map([&](const Tensor& t) { return bound(t, stage); });
}

void refuse_symbols(const char* stage) {
  fail(Code::E1105,
       cat("`", stage, "` was given tensors of a graph, and is iterated outside of it"),
       "tensors of a graph have values only while it runs",
       {manual_fix("make the dataset of values, outside of the function that is traced")});
}

}  // namespace holdfast::data
