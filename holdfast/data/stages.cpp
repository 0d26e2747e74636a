#include "holdfast/data/stages.h"

#include <unordered_set>
#include <utility>

#include "holdfast/base/text.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/inner.h"
#include "holdfast/device/device.h"
#include "holdfast/ops/strings/fingerprint.h"

namespace holdfast::data {

class Stages::Walk final : public Visitor {
 public:
  explicit Walk(Stages& into) : into_(into) {}
  void object(const Object& child) override {
    if (!seen_.insert(&child).second) return;
    if (auto* stage = dynamic_cast<const DatasetObject*>(&child)) {
      into_.numbers_.emplace(stage, static_cast<int64_t>(into_.all_.size()));
      into_.all_.emplace_back(stage);
    }
    if (auto* maker = dynamic_cast<const MakesDatasets*>(&child))
      if (auto* f = dynamic_cast<const ElementFunction*>(&child))
        into_.makers_.emplace_back(maker->number,
                                   Ref<ElementFunction>(const_cast<ElementFunction*>(f)));
    child.visit(*this);
    for (const Ref<DatasetObject>& held : held_by(&child)) object(*held);
  }

 private:
  Stages& into_;
  std::unordered_set<const Object*> seen_;
};

Stages::Stages(const std::vector<Ref<DatasetObject>>& of) {
  Walk walk(*this);
  for (const Ref<DatasetObject>& each : of) walk.object(*each);
}

int64_t Stages::number_of(const DatasetObject& stage) const {
  auto found = numbers_.find(&stage);
  return found == numbers_.end() ? -1 : found->second;
}

int64_t Stages::maker_of(uint64_t number) const {
  for (size_t i = 0; i < makers_.size(); ++i)
    if (makers_[i].first == number) return static_cast<int64_t>(i);
  return -1;
}

ElementFunction* Stages::maker_at(int64_t place) const {
  bool there = place >= 0 && place < static_cast<int64_t>(makers_.size());
  return there ? makers_[static_cast<size_t>(place)].second.get() : nullptr;
}

int64_t Stages::number_of_made(const DatasetObject& dataset) const {
  for (size_t i = 0; i < made.size(); ++i)
    if (dataset_in(made[i]) == &dataset) return static_cast<int64_t>(i);
  return -1;
}

namespace {

/// Whose random numbers the functions of a stage draw.
class Drawing final : public Visitor {
 public:
  explicit Drawing(std::unordered_set<const void*>& to) : to_(to) {}
  void object(const Object& child) override {
    auto* function = dynamic_cast<const ElementFunction*>(&child);
    if (!function) return;
    const Object& draws = function->draws_as();
    auto* place = dynamic_cast<const Place*>(&draws);
    to_.insert(place ? place->whole() : &draws);
  }

 private:
  std::unordered_set<const void*>& to_;
};

}  // namespace

Joins joins_of(const DatasetObject& dataset, const Bound* bound) {
  Joins out;
  std::vector<const DatasetObject*> left{&dataset};
  out.all.insert(&dataset);
  bool shared = false;
  auto go_to = [&](const DatasetObject* stage) {
    if (out.all.insert(stage).second)
      left.push_back(stage);
    else
      shared = true;
  };
  while (!left.empty()) {
    const DatasetObject* now = left.back();
    left.pop_back();
    if (now->inputs().size() > 1) out.stages.push_back(now);
    for (const Ref<DatasetObject>& in : now->inputs()) go_to(in.get());
    if (auto* argument = dynamic_cast<const StandsForDataset*>(now))
      if (const DatasetObject* given = argument->stands_for(bound)) go_to(given);
  }
  if (!shared) {
    out.stages.clear();
    return out;
  }
  Drawing drawing(out.functions);
  for (const DatasetObject* stage : out.all) {
    stage->visit(drawing);
    if (auto* makes = dynamic_cast<const HasPlace*>(stage))
      out.functions.insert(makes->place().whole());
  }
  return out;
}

std::vector<Ref<DatasetObject>> held_by(const Object* holder) {
  std::vector<Ref<DatasetObject>> out;
  if (auto* holds = dynamic_cast<const HoldsDatasets*>(holder)) holds->add_datasets(out);
  if (auto* open = dynamic_cast<const MayBeOpen*>(holder)) {
    std::vector<Tensor> tensors;
    open->add_open(tensors);
    for (const Tensor& t : tensors)
      if (DatasetObject* inside = dataset_in(t)) out.emplace_back(inside);
  }
  return out;
}

uint64_t fingerprint_of(const DatasetObject& dataset) {
  Stages stages({Ref<DatasetObject>(const_cast<DatasetObject*>(&dataset))});
  Saving facts;
  for (const auto& stage : stages.all()) {
    facts.text(stage->name());
    facts.text(stage->spec().text());
    facts.number(stage->cardinality());
    stage->add_facts(facts);
    for (const auto& in : stage->inputs()) facts.number(stages.number_of(*in));
  }
  return farm_fingerprint(facts.take());
}

Nested restored(Restoring& from, const ElementSpec& spec) {
  Nested out = from.element();
  if (auto wrong = spec.mismatch(out)) Restoring::refuse(cat("an element: ", *wrong));
  return out;
}

MadeAhead restored_made(Restoring& from, const ElementSpec& spec) {
  if (from.number()) return {{}, from.error()};
  return {restored(from, spec), nullptr};
}

void add_tensor(const Tensor& given, Saving& to) {
  if (given.is_symbolic() || dataset_in(given)) return;
  Tensor t = copy_to(given, cpu());
  to.number(static_cast<int64_t>(t.dtype()));
  to.text(t.shape().text());
  if (t.dtype() == DType::kString)
    for (int64_t i = 0; i < t.size(); ++i) to.text(t.raw<std::string>()[i]);
  else
    to.number(static_cast<int64_t>(
        farm_fingerprint({static_cast<const char*>(t.raw()), static_cast<size_t>(t.bytes())})));
}

namespace {

void save_branches(const Iteration& iteration, const Stages& stages, Saving& to) {
  std::vector<Iteration::Branch> all = iteration.branches();
  std::erase_if(all, [&](const auto& b) { return stages.number_of(*b.stage) < 0; });
  to.number(static_cast<int64_t>(all.size()));
  for (const Iteration::Branch& b : all) {
    to.number(stages.number_of(*b.stage));
    to.number(static_cast<int64_t>(b.input));
    Working on(b.of);
    save_kept_of({b.stage->inputs()[b.input]}, to);
    save_branches(*b.of, stages, to);
  }
}

void restore_branches(Iteration& iteration, const Stages& stages, Restoring& from) {
  for (int64_t n = from.count(); n > 0; --n) {
    int64_t number = from.number(), input = from.number();
    if (number < 0 || number >= static_cast<int64_t>(stages.all().size()))
      Restoring::refuse("it names a stage that there is not");
    const DatasetObject& stage = *stages.all()[static_cast<size_t>(number)];
    if (input < 0 || input >= static_cast<int64_t>(stage.inputs().size()))
      Restoring::refuse("it names an input that there is not");
    Ref<Iteration> branch = iteration.branch(stage, static_cast<size_t>(input));
    if (!branch) Restoring::refuse("it names a stage that shares none with others");
    Working on(branch);
    restore_kept_of({stage.inputs()[static_cast<size_t>(input)]}, from);
    restore_branches(*branch, stages, from);
  }
}

}  // namespace

void save_kept_in(const Ref<Iteration>& iteration, const Ref<DatasetObject>& pipeline, Saving& to) {
  Working on(iteration);
  save_kept_of({pipeline}, to);
  save_branches(*iteration, Stages({pipeline}), to);
}

void restore_kept_in(const Ref<Iteration>& iteration, const Ref<DatasetObject>& pipeline,
                     Restoring& from) {
  Working on(iteration);
  restore_kept_of({pipeline}, from);
  restore_branches(*iteration, Stages({pipeline}), from);
}

namespace {

// Whether stages of some datasets are written down, or read: those that their functions hold are
// among them, each once, though a function may hold the very dataset that it is part of.
thread_local bool t_among_kept = false;
struct AmongKept {
  explicit AmongKept(bool now) : before(std::exchange(t_among_kept, now)) {}
  ~AmongKept() { t_among_kept = before; }
  const bool before;
};

}  // namespace

void save_kept_of(const std::vector<Ref<DatasetObject>>& datasets, Saving& to) {
  if (t_among_kept) return;
  AmongKept all(true);
  Stages stages(datasets);
  to.number(static_cast<int64_t>(stages.all().size()));
  for (const auto& stage : stages.all()) {
    to.text(stage->name());
    stage->save_kept(to);
  }
}

void restore_kept_of(const std::vector<Ref<DatasetObject>>& datasets, Restoring& from) {
  if (t_among_kept) return;
  AmongKept all(true);
  Stages stages(datasets);
  int64_t n = from.count();
  if (n != static_cast<int64_t>(stages.all().size()))
    Restoring::refuse(
        cat("its functions use datasets of ", n, " stages, these of ", stages.all().size()));
  for (const auto& stage : stages.all()) {
    if (std::string name = from.text(); name != stage->name())
      Restoring::refuse(cat("its functions use a `", name, "`, these a `", stage->name(), "`"));
    stage->restore_kept(from);
  }
}

void save_kept_of_made(const Ref<DatasetObject>& dataset, Saving& to) {
  AmongKept none(false);
  save_kept_of({dataset}, to);
}

void restore_kept_of_made(const Ref<DatasetObject>& dataset, Restoring& from) {
  AmongKept none(false);
  restore_kept_of({dataset}, from);
}

}  // namespace holdfast::data
