#include "holdfast/keras/watching.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/layer.h"
#include "holdfast/keras/loss.h"
#include "holdfast/keras/made.h"
#include "holdfast/keras/metric.h"
#include "holdfast/keras/optimizer.h"
#include "holdfast/op/refuse.h"

namespace holdfast::keras {
namespace {

template <class F>
class Children final : public Visitor {
 public:
  explicit Children(F each) : each_(std::move(each)) {}
  void object(const Object& child) override { each_(child); }

 private:
  F each_;
};

Fact weight_fact(const char* name, const Variable& v) {
  return {
      name, v.defined() ? v.state() : nullptr,
      v.defined() ? cat("the Variable ", v.name(), " ", type_text(v.dtype(), v.shape())) : "none"};
}

// Objects that a layer holds, as one value.
template <class T>
Fact held_fact(const char* name, const Layer& layer) {
  Fact out(name, Config());
  Children see([&](const Object& child) {
    if (dynamic_cast<const T*>(&child)) out.objects.push_back(&child);
  });
  layer.visit(see);
  out.text = cat(out.objects.size(), " of them");
  return out;
}

// Whether nothing depends on an option, or it is told in another way: names change no value, and
// initializers serve once.
bool says_nothing(const Object& o, const Option& option, const Config& value) {
  const std::string_view name = option.name;
  if (name == "name" || dynamic_cast<const Initializer*>(value.live())) return true;
  if (dynamic_cast<const Layer*>(&o)) return name == "trainable" || name == "dtype";
  return dynamic_cast<const Optimizer*>(&o) && name == "learning_rate";
}

std::vector<Fact> facts_of(const Object& o) {
  auto& declared = dynamic_cast<const Declared&>(o);
  const ClassDef& def = declared.definition();
  std::vector<Fact> out;
  for (const Option& option : def.options)
    if (Config value = option.get(declared.option_place()); !says_nothing(o, option, value)) {
      out.emplace_back(option.name, value);
      if (auto* stands = dynamic_cast<const StandsFor*>(value.live()))
        out.back().text = cat("the function ", stands->function->name());
    }
  for (const Weight& w : def.weights) out.push_back(weight_fact(w.name, w.get(o)));
  if (auto* layer = dynamic_cast<const Layer*>(&o)) {
    out.emplace_back("dtype_policy", Config(layer->policy().name));
    out.emplace_back("supports_masking", Config(layer->supports_masking()));
    // One of another language may have methods that its class has not.
    out.emplace_back("methods", Config(layer->own_methods()));
    out.back().text = layer->own_methods() ? "some of its own" : "those of its class";
    out.push_back(held_fact<Layer>("layers", *layer));
    out.push_back(held_fact<VariableState>("variables", *layer));
    // A class of Python's reads its own as attributes, which are guards; one of a C++ program reads
    // members.
    out.back().of_training = layer->shared() != nullptr;
    out.emplace_back("trainable", Config(layer->trainable()));
    out.back().of_training = true;
  }
  if (auto* optimizer = dynamic_cast<const Optimizer*>(&o)) {
    // A number lies in a Variable, which each step reads.
    const LearningRate& rate = optimizer->rate_source();
    Ref<Object> by = rate.schedule ? Ref<Object>(rate.schedule) : Ref<Object>(rate.function);
    out.push_back({"learning_rate", by.get(), by ? by->text() : "a number"});
  }
  return out;
}

std::string name_of(const Object& o) {
  if (auto* layer = dynamic_cast<const Layer*>(&o)) return cat("layer `", layer->name(), "`");
  if (auto* optimizer = dynamic_cast<const Optimizer*>(&o))
    return cat("optimizer `", optimizer->name(), "`");
  if (auto* metric = dynamic_cast<const Metric*>(&o)) return cat("metric `", metric->name(), "`");
  if (auto* loss = dynamic_cast<const Loss*>(&o)) return cat("loss `", loss->name(), "`");
  return cat("a ", dynamic_cast<const Declared&>(o).definition().name);
}

constexpr WatchedKind kDeclared{&facts_of, &name_of};

std::vector<Fact> facts_of_variable(const Object& o) {
  std::vector<Fact> out;
  auto* state = dynamic_cast<VariableState*>(const_cast<Object*>(&o));
  if (!state) return out;
  out.emplace_back("trainable", Config(is_trained(Variable(Ref<VariableState>(state)))));
  out.back().of_training = true;
  return out;
}
std::string name_of_variable(const Object& o) { return o.text(); }

constexpr WatchedKind kVariable{&facts_of_variable, &name_of_variable};

void note(WatchRecord& record, const Object& o) {
  if (auto* v = dynamic_cast<const VariableState*>(&o)) {
    if (v->constraint) note(record, *v->constraint);
    return;
  }
  const bool serves_once = dynamic_cast<const Initializer*>(&o) != nullptr;
  if (serves_once || !dynamic_cast<const Declared*>(&o)) return;
  if (!record.note(o, kDeclared, false)) return;
  Children see([&](const Object& child) { note(record, child); });
  o.visit(see);
}

}  // namespace

void goes_by(const Object& object) {
  if (WatchRecord* record = WatchRecord::current()) note(*record, object);
}

void goes_by_training(const Layer& layer) {
  WatchRecord* record = WatchRecord::current();
  if (!record) return;
  note(*record, layer);
  record->note(layer, kDeclared, true);
  Children see([&](const Object& child) {
    if (dynamic_cast<const VariableState*>(&child)) record->note(child, kVariable, true);
  });
  layer.visit_all(see);
}

void goes_by_training(const Variable& v) {
  if (WatchRecord* record = WatchRecord::current()) record->note(*v.state(), kVariable, true);
}

}  // namespace holdfast::keras
