#include "holdfast/data/bound.h"

#include <algorithm>
#include <unordered_set>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/inner.h"

namespace holdfast::data {
namespace {

thread_local Ref<Bound> t_bound;

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

Binding::Binding(Ref<Bound> values) : before_(std::exchange(t_bound, std::move(values))) {}
Binding::~Binding() { t_bound = std::move(before_); }
const Ref<Bound>& Binding::current() { return t_bound; }

Tensor bound(const Tensor& t, const char* stage) {
  if (!t.is_symbolic()) return t;
  if (t_bound)
    for (size_t i = 0; i < t_bound->symbols.size(); ++i)
      if (t_bound->symbols[i].id() == t.id()) return t_bound->values[i];
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
