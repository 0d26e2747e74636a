#include "holdfast/data/bound.h"

#include <algorithm>
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

DrawingForIteration::DrawingForIteration() : before_(random::own_streams()) {
  random::own_streams() = t_iteration ? &t_iteration->streams : nullptr;
}
DrawingForIteration::~DrawingForIteration() { random::own_streams() = before_; }

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
