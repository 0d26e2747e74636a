#include "holdfast/data/bound.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <unordered_set>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/stages.h"
#include "holdfast/ops/random/streams.h"

namespace holdfast::data {
namespace {

thread_local Ref<Iteration> t_iteration;
thread_local Making* t_making = nullptr;
constexpr int kDeepestPlace = 64;  // a file may say anything

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
    for (const Ref<DatasetObject>& held : held_by(&child)) object(*held);
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

Iteration::Iteration(Ref<Bound> values, Joins joins, Order order)
    : bound(std::move(values)), common_(make_ref<Common>()) {
  common_->order = order;
  common_->joins = std::move(joins);
}
Iteration::Iteration(Ref<Bound> values, Ref<Common> common)
    : bound(std::move(values)), common_(std::move(common)) {}

Ref<Iteration> Iteration::branch(const DatasetObject& stage, size_t i) {
  const auto& joins = common_->joins.stages;
  if (std::find(joins.begin(), joins.end(), &stage) == joins.end()) return nullptr;
  std::lock_guard lock(mutex_);
  for (const Branch& b : branches_)
    if (b.stage == &stage && b.input == i) return b.of;
  branches_.push_back({&stage, i, Ref<Iteration>(new Iteration(bound, common_))});
  return branches_.back().of;
}

std::vector<Iteration::Branch> Iteration::branches() const {
  std::lock_guard lock(mutex_);
  return branches_;
}

void Iteration::add(const Generator* running) {
  std::lock_guard lock(common_->mutex);
  common_->generators.push_back(running);
}
void Iteration::remove(const Generator* running) {
  std::lock_guard lock(common_->mutex);
  std::erase(common_->generators, running);
}
void Iteration::add(const DatasetObject* stage) {
  std::lock_guard lock(common_->mutex);
  common_->stages.push_back(stage);
}
void Iteration::remove(const DatasetObject* stage) {
  std::lock_guard lock(common_->mutex);
  auto& stages = common_->stages;
  auto found = std::find(stages.rbegin(), stages.rend(), stage);  // the youngest go first
  if (found != stages.rend()) stages.erase(std::next(found).base());
}
void Iteration::visit(Visitor& see) const {
  visit_draws(see);
  std::lock_guard lock(common_->mutex);
  for (const Generator* running : common_->generators) running->visit(see);
  for (const DatasetObject* stage : common_->stages) see.object(*stage);
  for (const auto& [of, made] : common_->made) see.object(*made);
  for (const Ref<Drawn>& each : common_->drawn) see.object(*each->function);
}
void Iteration::visit_draws(Visitor& see) const {
  std::lock_guard lock(mutex_);
  for (const Ref<Drawn>& each : drawn_) see.object(*each->function);
  for (const Branch& b : branches_) b.of->visit_draws(see);
}
Ref<DatasetObject> Iteration::made_by(uint64_t stage) const {
  std::lock_guard lock(common_->mutex);
  for (const auto& [of, made] : common_->made)
    if (of == stage) return made;
  return nullptr;
}
void Iteration::keep(uint64_t stage, Ref<DatasetObject> made) {
  std::lock_guard lock(common_->mutex);
  common_->made.emplace_back(stage, std::move(made));
}

Ref<Place> Place::part(size_t i) const {
  std::lock_guard lock(mutex_);
  while (parts_.size() <= i) parts_.push_back(make_ref<Place>(this));
  return parts_[i];
}
std::vector<Ref<Place>> Place::parts() const {
  std::lock_guard lock(mutex_);
  return parts_;
}

MakesDatasets::MakesDatasets()
    : number([] {
        static std::atomic<uint64_t> last{0};
        return ++last;
      }()) {}

Ref<Place> made_in_place() {
  Ref<Place> around = Making::next();
  return around ? around : make_ref<Place>();
}

Making::Making(const Place& in)
    : before_(std::exchange(t_making, this)),
      in_(in),
      seeds_(random::seed_state().global_seed()),
      seeds_before_(std::exchange(random::seed_scope().graph, &seeds_)) {}
Making::~Making() {
  t_making = before_;
  random::seed_scope().graph = seeds_before_;
}
Ref<Place> Making::next() { return t_making ? t_making->in_.part(t_making->made_++) : nullptr; }

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

DrawingForIteration::DrawingForIteration(const Object& function,
                                         const std::vector<RefCounted*>& nodes)
    : function_(function),
      nodes_(nodes),
      iteration_(t_iteration.get()),
      before_(random::stream_source()) {
  random::stream_source() = iteration_ ? this : nullptr;
}
DrawingForIteration::~DrawingForIteration() { random::stream_source() = before_; }
random::Philox DrawingForIteration::reserve(random::NodeGenerator& node,
                                            const random::OpSeeds& seeds, uint64_t blocks) {
  auto found = std::find(nodes_.begin(), nodes_.end(), &node);
  int64_t number = found == nodes_.end() ? random::OwnStreams::kUnknown : found - nodes_.begin();
  return iteration_->drawn_by(function_)->streams.reserve(node, number, seeds, blocks);
}

namespace {

Ref<Drawn> drawn_among(const std::vector<Ref<Drawn>>& all, const Object& function) {
  for (const Ref<Drawn>& each : all)
    if (each->function.get() == &function) return each;
  return nullptr;
}

}  // namespace

// Of datasets that functions and elements hold: their numbers are those of no branch.
bool Iteration::is_shared(const Object& function) const {
  if (common_->joins.stages.empty()) return false;
  auto* place = dynamic_cast<const Place*>(&function);
  return !common_->joins.functions.contains(place ? place->whole() : &function);
}

Ref<Drawn> Iteration::drawn_by(const Object& function) {
  std::vector<Ref<Drawn>> gone;  // may run a program's code when they go: not under the lock
  bool shared = is_shared(function);
  std::lock_guard lock(shared ? common_->mutex : mutex_);
  auto& all = shared ? common_->drawn : drawn_;
  if (Ref<Drawn> found = drawn_among(all, function)) return found;
  // Functions of datasets that a function made come and go: nobody else holds those that went.
  auto left = std::stable_partition(
      all.begin(), all.end(), [](const Ref<Drawn>& each) { return !each->function->unique(); });
  gone.assign(std::move_iterator(left), std::move_iterator(all.end()));
  all.erase(left, all.end());
  all.push_back(make_ref<Drawn>(function));
  return all.back();
}

Ref<Drawn> Iteration::found_drawn(const Object& function) const {
  bool shared = is_shared(function);
  std::lock_guard lock(shared ? common_->mutex : mutex_);
  return drawn_among(shared ? common_->drawn : drawn_, function);
}

namespace {

void save_draws_of(const Object& function, Saving& to) {
  std::vector<random::OwnStreams::Position> all;
  if (t_iteration)
    if (Ref<Drawn> drawn = t_iteration->found_drawn(function)) all = drawn->streams.positions();
  to.number(static_cast<int64_t>(all.size()));
  for (const auto& p : all) {
    to.number(p.number);
    to.number(p.seeds.seed);
    to.number(p.seeds.seed2);
    for (uint64_t word : {p.at.counter_lo, p.at.counter_hi, p.at.key})
      to.number(static_cast<int64_t>(word));
  }
}

void restore_draws_of(const Object& function, Restoring& from) {
  std::vector<random::OwnStreams::Position> all;
  for (int64_t n = from.count(); n > 0; --n) {
    random::OwnStreams::Position p;
    p.number = from.number();
    p.seeds.seed = from.number();
    p.seeds.seed2 = from.number();
    for (uint64_t* word : {&p.at.counter_lo, &p.at.counter_hi, &p.at.key})
      *word = static_cast<uint64_t>(from.number());
    all.push_back(p);
  }
  if (t_iteration && !all.empty())
    t_iteration->drawn_by(function)->streams.begin_at(std::move(all));
}

}  // namespace

void save_draws(const ElementFunction& function, Saving& to) {
  save_draws_of(function.draws_as(), to);
  save_kept_of(held_by(&function), to);
}
void restore_draws(const ElementFunction& function, Restoring& from) {
  restore_draws_of(function.draws_as(), from);
  restore_kept_of(held_by(&function), from);
}
void save_draws(const Place& place, Saving& to) {
  save_draws_of(place, to);
  std::vector<Ref<Place>> parts = place.parts();
  to.number(static_cast<int64_t>(parts.size()));
  for (const Ref<Place>& part : parts) save_draws(*part, to);
}
void restore_draws(const Place& place, Restoring& from, int depth) {
  if (depth > kDeepestPlace) Restoring::refuse("functions make functions too deep");
  restore_draws_of(place, from);
  for (int64_t i = 0, n = from.count(); i < n; ++i)
    restore_draws(*place.part(static_cast<size_t>(i)), from, depth + 1);
}

const Tensor* found_bound(const Tensor& symbol) {
  const Bound* here = t_iteration ? t_iteration->bound.get() : nullptr;
  for (size_t i = 0; here && i < here->symbols.size(); ++i)
    if (here->symbols[i].id() == symbol.id()) return &here->values[i];
  return nullptr;
}

Tensor bound(const Tensor& t, const char* stage) {
  if (!t.is_symbolic()) return t;
  if (const Tensor* value = found_bound(t)) return *value;
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
