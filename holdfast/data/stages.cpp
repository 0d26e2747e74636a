#include "holdfast/data/stages.h"

#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/data/bound.h"
#include "holdfast/data/inner.h"
#include "holdfast/device/device.h"
#include "holdfast/io/checksums.h"

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

bool shares_stages(const DatasetObject& dataset) {
  std::unordered_set<const DatasetObject*> seen{&dataset};
  std::vector<const DatasetObject*> left{&dataset};
  while (!left.empty()) {
    const DatasetObject* now = left.back();
    left.pop_back();
    for (const Ref<DatasetObject>& in : now->inputs()) {
      if (!seen.insert(in.get()).second) return true;
      left.push_back(in.get());
    }
  }
  return false;
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
  std::string bytes = facts.take();
  return uint64_t{io::crc32c(bytes)} << 32 | io::crc32c(bytes, 0x9e3779b9U);
}

void add_tensor(const Tensor& given, Saving& to) {
  if (given.is_symbolic() || dataset_in(given)) return;
  Tensor t = copy_to(given, cpu());
  to.number(static_cast<int64_t>(t.dtype()));
  to.text(t.shape().text());
  uint32_t sum = 0;
  if (t.dtype() == DType::kString)
    for (int64_t i = 0; i < t.size(); ++i) to.text(t.raw<std::string>()[i]);
  else
    sum = io::crc32c({static_cast<const char*>(t.raw()), static_cast<size_t>(t.bytes())});
  to.number(sum);
}

void save_kept_of(const std::vector<Ref<DatasetObject>>& datasets, Saving& to) {
  Stages stages(datasets);
  to.number(static_cast<int64_t>(stages.all().size()));
  for (const auto& stage : stages.all()) {
    to.text(stage->name());
    stage->save_kept(to);
  }
}

void restore_kept_of(const std::vector<Ref<DatasetObject>>& datasets, Restoring& from) {
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

}  // namespace holdfast::data
