#include "holdfast/keras/layer.h"

#include <cxxabi.h>

#include <map>
#include <unordered_set>

#include "holdfast/base/text.h"

namespace holdfast::keras {

const ObjectClass Layer::kClass{"Layer", &ModuleObject::kClass};

namespace {

thread_local std::optional<bool> training_in_force;

std::string scope_of(const std::string& name) { return cat(context().name_scope, name, "/"); }

}  // namespace

std::string snake_case(std::string_view s) {
  auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  auto lower = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    bool begins = i > 0 && upper(s[i]) &&
                  (lower(s[i - 1]) || (i + 1 < s.size() && s[i + 1] >= 'a' && s[i + 1] <= 'z'));
    if (begins && s[i - 1] != '_') out += '_';
    out += upper(s[i]) ? static_cast<char>(s[i] - 'A' + 'a') : s[i];
  }
  return out;
}

std::string unique_layer_name(const std::string& base) {
  static std::mutex mutex;
  static auto* given = new std::map<std::string, int64_t>;
  std::lock_guard lock(mutex);
  int64_t number = (*given)[base]++;
  return number ? cat(base, "_", number) : base;
}

DType dtype_from(const Config& named, const std::string& what) {
  const std::string& wanted = named.as_text(what);
  for (size_t i = 0; i < kNumDTypes; ++i)
    if (auto d = static_cast<DType>(i); d != DType::kInvalid && wanted == holdfast::name(d))
      return d;
  fail(Code::E1104, cat(what, " is ", named.text(), ", expected a dtype's name"));
}

void Layer::set_options(const LayerOptions& o) {
  trainable_ = o.trainable;
  dtype_ = o.dtype;
  if (o.name.empty()) return;
  named_ = true;
  set_name(o.name, scope_of(o.name));
}

void Layer::name_it() {
  if (named_) return;
  named_ = true;
  std::string name = unique_layer_name(snake_case(class_name()));
  set_name(name, scope_of(name));
}

std::string Layer::class_name() const {
  int status = 0;
  char* plain = abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status);
  std::string out = status == 0 ? plain : typeid(*this).name();
  std::free(plain);
  if (out.ends_with('>')) {  // arguments of a template are no part of the name
    size_t i = out.size();
    for (int depth = 0; i > 0;) {
      --i;
      depth += out[i] == '>' ? 1 : out[i] == '<' ? -1 : 0;
      if (depth == 0) break;
    }
    out.resize(i);
  }
  size_t end = out.rfind("::");
  return end == std::string::npos ? out : out.substr(end + 2);
}

std::string Layer::described() const { return cat("layer `", name(), "` (", class_name(), ")"); }
std::string Layer::text() const { return described(); }

CallScope::CallScope(Layer& layer, std::optional<bool> training)
    : names_((layer.name_it(), layer.name())),
      training_(training ? training : training_in_force),
      around_(training_in_force) {
  training_in_force = training_;
}
CallScope::~CallScope() { training_in_force = around_; }
std::optional<bool> CallScope::training_now() { return training_in_force; }

Tensor Layer::build_and_call(const Tensor& inputs, CallOptions o) {
  name_it();
  if (!inputs.defined())
    fail(Code::E1104, cat(described(), ": `inputs` is an empty tensor, expected one with a value"));
  CallScope scope(*this, o.training);
  o.training = scope.training();
  build_once(inputs.shape());
  return call(inputs, o);
}

void Layer::build_once(const Shape& inputs) {
  if (built_) return;
  PatientLock lock(building_);  // of several threads that call it first, one builds
  if (built_) return;
  name_it();
  build(inputs);
  set_built_for(inputs);
}

Tensor Layer::call(const Tensor&, const CallOptions&) {
  fail(Code::E1105, cat(described(), " has no `call`"),
       "a layer computes what its `call` says, and this class has none",
       {manual_fix("override `call(inputs)`")});
}

ConfigDict Layer::get_config() const {
  const_cast<Layer*>(this)->name_it();
  return {
      {"name", name()}, {"trainable", trainable_}, {"dtype", std::string(holdfast::name(dtype_))}};
}

// A weight has its first value once, also if the layer is first called while a function is traced.
Variable Layer::add_weight(WeightOptions o) {
  name_it();
  DType dtype = o.dtype == DType::kInvalid ? dtype_ : o.dtype;
  std::string what = cat(described(), ": `add_weight(\"", o.name, "\")`");
  if (!o.shape.has_rank() || !o.shape.is_full())
    fail(Code::E1102, cat(what, " got the shape ", o.shape.text(), ", expected known sizes"),
         "the shape of a weight depends on what the layer is given, and that is not known yet",
         {manual_fix("make the weight in `build`, from dimensions that are known")});
  Ref<Initializer> make = o.initializer ? o.initializer->function : nullptr;
  if (!make) make = initializer(is_floating(dtype) ? "glorot_uniform" : "zeros");
  InterpreterScope eagerly(nullptr);
  NoObservers unseen;
  Tensor first = (*make)(o.shape, dtype);
  if (first.dtype() != dtype || !(first.shape() == o.shape))
    fail(Code::E1102,
         cat(what, ": the initializer gave ", holdfast::name(first.dtype()), first.shape().text(),
             ", expected ", holdfast::name(dtype), o.shape.text()));
  // In a call the layer's scope is open already, and is that of the model around it.
  const std::string& around = context().name_scope;
  bool open = around == name() + "/" || around.ends_with(cat("/", name(), "/"));
  NameScope whole(open ? around : scope_name());
  Variable made(first, {.trainable = o.trainable,
                        .name = o.name,
                        .dtype = dtype,
                        .constraint = std::move(o.constraint)});
  hold(made);
  return made;
}

void Layer::set_trainable(bool trainable) { trainable_ = trainable; }

namespace {

struct Direct final : Visitor {
  void object(const Object& child) override {
    auto* held = const_cast<Object*>(&child);
    if (auto* v = dynamic_cast<VariableState*>(held)) variables.emplace_back(Ref<VariableState>(v));
    if (auto* m = dynamic_cast<ModuleObject*>(held)) modules.emplace_back(m);
  }
  std::vector<Variable> variables;
  std::vector<Ref<ModuleObject>> modules;
};

}  // namespace

// A layer that is not trainable says so for all that is inside it.
std::vector<Variable> Layer::trainable_variables() const {
  std::vector<Variable> out;
  if (!trainable_) return out;
  std::unordered_set<const Object*> seen;
  auto take = [&](const Variable& v) {
    if (v.trainable() && seen.insert(v.state()).second) out.push_back(v);
  };
  Direct parts;
  visit_all(parts);
  for (const Variable& v : parts.variables) take(v);
  for (const Ref<ModuleObject>& m : parts.modules)
    if (m.get() != this && seen.insert(m.get()).second)
      for (const Variable& v : m->trainable_variables()) take(v);
  return out;
}

std::vector<Variable> Layer::non_trainable_variables() const {
  std::unordered_set<const Object*> trained;
  for (const Variable& v : trainable_variables()) trained.insert(v.state());
  std::vector<Variable> out = variables();
  std::erase_if(out, [&](const Variable& v) { return trained.contains(v.state()); });
  return out;
}

}  // namespace holdfast::keras
