#include "holdfast/keras/saving/saveables.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/sequential.h"
#include "holdfast/keras/training.h"

namespace holdfast::keras {
namespace {

AttributeParts attribute_parts = nullptr;

// The variables that an object holds itself, and what else it holds.
struct Direct final : Visitor {
  void object(const Object& child) override {
    auto* held = const_cast<Object*>(&child);
    if (!seen.insert(held).second) return;
    if (auto* v = dynamic_cast<VariableState*>(held)) variables.emplace_back(Ref<VariableState>(v));
    if (auto* m = dynamic_cast<ModuleObject*>(held)) modules.emplace_back(m);
  }
  std::unordered_set<const Object*> seen;
  std::vector<Variable> variables;
  std::vector<Ref<ModuleObject>> modules;
};

// Objects with a class of Keras', which files know by it.
const Declared* declared(const ModuleObject& o) { return dynamic_cast<const Declared*>(&o); }

std::string class_of(const ModuleObject& o) {
  if (auto* layer = dynamic_cast<const Layer*>(&o)) {
    // What `Model(inputs, outputs)` makes has a class of its own in Keras.
    auto* functional = dynamic_cast<const FunctionalLayer*>(layer);
    std::string name = layer->class_name();
    const ClassDef& def = layer->definition();
    if (name == def.name && !def.inner_name.empty()) return def.inner_name;
    return name == "Model" && functional && functional->has_graph() ? "Functional" : name;
  }
  return declared(o)->definition().name;
}

// An option or property that is an object with variables, or a list of them.
bool add_part(std::vector<Part>& to, std::string name, const Config& value) {
  if (Object* live = value.live()) {
    auto* module = dynamic_cast<ModuleObject*>(live);
    if (module && declared(*module)) to.push_back({std::move(name), Ref<ModuleObject>(module), {}});
    return module;
  }
  if (value.kind() != Config::Kind::kList) return false;
  Part list{std::move(name), {}, {}};
  for (const Config& one : value.as_list()) add_part(list.list, "", one);
  if (!list.list.empty()) to.push_back(std::move(list));
  return true;
}

Part list_of(std::string name, const std::vector<Ref<Layer>>& layers) {
  Part out{std::move(name), {}, {}};
  for (const Ref<Layer>& l : layers) out.list.push_back({"", Ref<ModuleObject>(l), {}});
  return out;
}

// Private names come last.
bool name_order(const Part& a, const Part& b) {
  auto key = [](const std::string& s) { return s.starts_with("_") ? "~" + s : s; };
  return key(a.name) < key(b.name);
}

}  // namespace

std::vector<Part> named_parts(const ModuleObject& o) {
  std::vector<Part> out;
  if (const Declared* d = declared(o)) {
    for (const ClassDef* def = &d->definition(); def; def = def->base)
      for (const Property& p : def->properties) add_part(out, p.name, p.get(o));
    for (const Option& p : d->definition().options) add_part(out, p.name, p.get(d->option_place()));
  }
  return out;
}

namespace {

std::vector<Part> parts_of(const ModuleObject& o) {
  std::vector<Part> out = named_parts(o);
  if (attribute_parts && o.shared())
    for (Part& p : attribute_parts(o)) out.push_back(std::move(p));
  auto* model = dynamic_cast<const ModelLayer*>(&o);
  auto* functional = dynamic_cast<const FunctionalLayer*>(&o);
  // Models that are made of other layers show those first, whatever else hangs on them.
  if (model && model->is_compiled())
    if (const Ref<Optimizer>& optimizer = model->compiled().optimizer())
      out.push_back({"optimizer", Ref<ModuleObject>(optimizer), {}});
  bool composed =
      dynamic_cast<const SequentialLayer*>(&o) || (functional && functional->has_graph());
  if (model && !composed) out.push_back(list_of("layers", model->layers()));
  std::stable_sort(out.begin(), out.end(), name_order);
  if (composed) out.insert(out.begin(), list_of("layers", model->layers()));
  return out;
}

class Walk {
 public:
  void object(const ModuleObject& o, const std::string& path) {
    if (!seen_.insert(&o).second) return;
    Direct direct;
    o.visit_all(direct);
    Saveable s{path, Ref<ModuleObject>(const_cast<ModuleObject*>(&o)), {}};
    if (auto* optimizer = dynamic_cast<const Optimizer*>(&o))
      s.variables = optimizer->variables();
    else
      for (bool trained : {true, false})
        for (const Variable& v : direct.variables)
          if (v.trainable() == trained) s.variables.push_back(v);
    found.push_back(std::move(s));
    for (const Part& p : parts_of(o)) part(p, below(path, p.name));
    // What a C++ class holds without saying under which name.
    Part rest{"_layers", {}, {}};
    for (const Ref<ModuleObject>& m : direct.modules)
      if (declared(*m) && !seen_.contains(m.get())) rest.list.push_back({"", m, {}});
    part(rest, below(path, rest.name));
  }
  std::vector<Saveable> found;

 private:
  static std::string below(const std::string& path, const std::string& name) {
    return path.empty() ? name : cat(path, "/", name);
  }
  void part(const Part& p, const std::string& path) {
    if (p.object) return object(*p.object, path);
    std::map<std::string, int> used;
    for (const Part& one : p.list) {
      std::string name = one.object ? snake_case(class_of(*one.object)) : "container";
      int number = used[name]++;
      part(one, below(path, number ? cat(name, "_", number) : name));
    }
  }
  std::unordered_set<const Object*> seen_;
};

}  // namespace

namespace {
OwnVariables own_hooks;
OwnAssets asset_hooks;
}  // namespace
void set_own_variables(OwnVariables hooks) { own_hooks = hooks; }
const OwnVariables& own_variables() { return own_hooks; }
void set_own_assets(OwnAssets hooks) { asset_hooks = hooks; }
const OwnAssets& own_assets() { return asset_hooks; }

void set_attribute_parts(AttributeParts parts) { attribute_parts = parts; }

std::vector<Saveable> saveables(const Layer& model) {
  Walk walk;
  walk.object(model, "");
  return std::move(walk.found);
}

}  // namespace holdfast::keras
