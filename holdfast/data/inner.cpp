#include "holdfast/data/inner.h"

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/functions.h"
#include "holdfast/data/stages.h"

namespace holdfast::data {
namespace {

void add_datasets_in(const Nested& element, std::vector<Ref<DatasetObject>>& to) {
  if (!holds_datasets(element)) return;
  for (const Tensor& t : element.leaves())
    if (DatasetObject* inside = dataset_in(t)) to.emplace_back(inside);
}

/// A dataset in an element whose origin is known.
struct Made final : RefCounted {
  Ref<DatasetObject> dataset;
  Ref<Origin> origin;
};

class Given final : public DatasetObject, public HoldsDatasets {
 public:
  Given(const ElementSpec& spec, std::vector<Nested> elements)
      : DatasetObject(spec, {}), all_(std::move(elements)) {}
  const char* name() const override { return "window of elements"; }
  int64_t cardinality() const override { return static_cast<int64_t>(all_.size()); }
  Owned<Cursor> start() const override { return started<Given, OneByOne>(*this); }
  const std::vector<Nested>& all() const { return all_; }
  void add_datasets(std::vector<Ref<DatasetObject>>& to) const override {
    for (const Nested& one : all_) add_datasets_in(one, to);
  }

 private:
  struct OneByOne final : Cursor {
    explicit OneByOne(const Given& s) : stage(&s) {}
    bool next(Nested& out) override {
      if (at >= stage->cardinality()) return false;
      out = stage->all_[static_cast<size_t>(at++)];
      return true;
    }
    void save(Saving& to) const override {
      to.number(at);
      save_kept_of(held_by(stage.get()), to);
    }
    void restore(Restoring& from) override {
      at = from.number();
      restore_kept_of(held_by(stage.get()), from);
      if (at < 0 || at > stage->cardinality()) Restoring::refuse("it is behind a window's end");
    }
    const StageRef<Given> stage;
    int64_t at = 0;
  };
  const std::vector<Nested> all_;
};

}  // namespace

namespace {

Tensor leading_to(Ref<RefCounted> what) {
  auto rep = make_ref<TensorRep>(DType::kVariant, Shape{}, nullptr);
  rep->beyond = std::move(what);
  return Tensor(std::move(rep));
}

}  // namespace

Tensor component_of(const Dataset& dataset) {
  return leading_to(Ref<RefCounted>(dataset.object()));
}

DatasetObject* dataset_in(const Tensor& t) {
  if (t.dtype() != DType::kVariant) return nullptr;
  RefCounted* there = t.rep()->beyond.get();
  if (auto* dataset = dynamic_cast<DatasetObject*>(there)) return dataset;
  auto* made = dynamic_cast<Made*>(there);
  return made ? made->dataset.get() : nullptr;
}

Nested with_origins(const Nested& given, uint64_t maker, const Nested& element) {
  std::vector<Tensor> leaves = given.leaves();
  for (size_t i = 0; i < leaves.size(); ++i)
    if (DatasetObject* dataset = dataset_in(leaves[i])) {
      auto made = make_ref<Made>();
      made->dataset = Ref<DatasetObject>(dataset);
      made->origin = make_ref<Origin>();
      made->origin->maker = maker;
      made->origin->element = element;
      made->origin->leaf = i;
      leaves[i] = leading_to(std::move(made));
    }
  return given.with_leaves(leaves);
}

const Origin* origin_of(const Tensor& t) {
  auto* made = t.dtype() == DType::kVariant ? dynamic_cast<Made*>(t.rep()->beyond.get()) : nullptr;
  return made ? made->origin.get() : nullptr;
}

bool holds_datasets(const Nested& element) {
  std::vector<Tensor> leaves = element.leaves();
  return std::any_of(leaves.begin(), leaves.end(), [](const Tensor& t) { return dataset_in(t); });
}

void refuse_datasets(const ElementSpec& spec, const char* stage) {
  if (!holds_datasets(spec.form())) return;
  fail(Code::E1105, cat("`", stage, "` got elements that are datasets: ", spec.text()),
       "it works on tensors",
       {manual_fix("a `flat_map` makes elements of them: its function gets each dataset, and gives "
                   "one of tensors")});
}

bool holds_elements(const DatasetObject& dataset) {
  return dynamic_cast<const Given*>(&dataset) != nullptr;
}

Dataset of_elements(const ElementSpec& spec, std::vector<Nested> elements) {
  return Dataset(make_ref<Given>(spec, std::move(elements)));
}

Dataset of_datasets(const std::vector<Dataset>& datasets) {
  if (datasets.empty()) fail(Code::E1104, "a dataset of datasets needs one, and was given none");
  ElementSpec spec = datasets[0].element_spec();
  std::vector<Nested> parts;
  for (const Dataset& d : datasets) {
    auto both = spec.joined(d.element_spec());
    if (!both)
      fail(Code::E1101,
           cat("datasets of one dataset have elements of one structure, and these have ",
               spec.text(), " and ", d.element_spec().text()));
    spec = *both;
    parts.push_back(component_of(d));
  }
  return of_elements(ElementSpec::of(component_of(promised(spec))), std::move(parts));
}

std::vector<Nested> all_of(const DatasetObject& dataset, bool in_first_order) {
  if (auto* given = dynamic_cast<const Given*>(&dataset)) return given->all();
  if (dataset.cardinality() == kInfinite)
    fail(Code::E1105, "a dataset without end stands in an element that is to be saved",
         "a position holds the elements of such datasets",
         {manual_fix("`take` so many of it as are needed")});
  std::vector<Nested> out;
  Ref<Iteration> now = Working::current();
  if (in_first_order)
    now = make_ref<Iteration>(now ? now->bound : Ref<Bound>(), joins_of(dataset, nullptr),
                              Order::kFirst);
  Working on(now);
  Owned<Cursor> cursor = dataset.begin();
  for (Nested one; cursor->next(one);) {
    check_stop();
    out.push_back(one);
  }
  return out;
}

}  // namespace holdfast::data
