#include "holdfast/exec/module.h"

#include <algorithm>
#include <unordered_set>

#include "holdfast/base/text.h"

namespace holdfast {
namespace {

bool is_identifier(const std::string& s) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !s.empty() && letter(s[0]) && std::all_of(s.begin(), s.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

template <class List, class T>
bool has(const List& list, const T& x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

// What one module holds, in the order in which it shows it.
struct Parts final : Visitor {
  void object(const Object& child) override {
    auto* held = const_cast<Object*>(&child);
    if (auto* v = dynamic_cast<VariableState*>(held))
      variables.emplace_back(Ref<VariableState>(v));
    else if (auto* m = dynamic_cast<ModuleObject*>(held))
      modules.emplace_back(m);
  }
  std::vector<Variable> variables;
  std::vector<Ref<ModuleObject>> modules;
};

// All that a module holds, each once: the parts of a part come before what stands beside it.
Parts all_parts(const ModuleObject& root) {
  Parts out;
  std::unordered_set<const Object*> seen{&root};
  Parts first;
  root.visit_all(first);
  std::vector<Ref<ModuleObject>> left;
  auto take = [&](Parts parts) {
    for (Variable& v : parts.variables)
      if (seen.insert(v.state()).second) out.variables.push_back(std::move(v));
    std::erase_if(parts.modules,
                  [&](const Ref<ModuleObject>& m) { return !seen.insert(m.get()).second; });
    left.insert(left.end(), parts.modules.rbegin(), parts.modules.rend());
    out.modules.insert(out.modules.end(), parts.modules.begin(), parts.modules.end());
  };
  take(std::move(first));
  while (!left.empty()) {
    Ref<ModuleObject> next = std::move(left.back());
    left.pop_back();
    Parts parts;
    next->visit_all(parts);
    take(std::move(parts));
  }
  return out;
}

}  // namespace

const ObjectClass ModuleObject::kClass{"Module"};

ModuleObject::ModuleObject(std::string name, std::string scope)
    : name_(std::move(name)), scope_(std::move(scope)) {}

void ModuleObject::set_name(std::string name, std::string scope) {
  name_ = std::move(name);
  scope_ = std::move(scope);
}

void ModuleObject::visit(Visitor& see) const {
  auto variables = variables_.read();
  for (const Variable& v : *variables) see.object(*v.state());
  see.children(*modules_.read());
}

void ModuleObject::clear() {
  variables_.clear();
  modules_.clear();
}

void ModuleObject::hold(const Variable& v) {
  if (!v.defined())
    fail(Code::E1104, cat("module `", name_, "` is given a Variable that was never made"));
  variables_.change([&](std::vector<Variable>& all) {
    if (!has(all, v)) all.push_back(v);
  });
}

void ModuleObject::replace(const Variable& before, const Variable& now) {
  if (before.defined() && now.defined() && before == now) return;
  variables_.change([&](std::vector<Variable>& all) {
    bool comes = now.defined() && !has(all, now);
    auto place = before.defined() ? std::find(all.begin(), all.end(), before) : all.end();
    if (place == all.end()) {
      if (comes) all.push_back(now);
    } else if (comes) {
      *place = now;
    } else {
      all.erase(place);
    }
  });
}

// Parts are counted references, so a module inside itself would never be freed.
void ModuleObject::hold(const Ref<ModuleObject>& m) {
  if (!m) fail(Code::E1104, cat("module `", name_, "` is given a module that was never made"));
  if (m.get() == this || has(m->submodules(), Ref<ModuleObject>(this)))
    fail(Code::E1103,
         cat("module `", m->name(), "` can't be held by `", name_,
             "`: it is that module, or holds it"),
         "a module that holds itself would never be freed");
  modules_.change([&](std::vector<Ref<ModuleObject>>& all) {
    if (!has(all, m)) all.push_back(m);
  });
}

std::vector<Variable> ModuleObject::variables() const { return all_parts(*this).variables; }

std::vector<Variable> ModuleObject::trainable_variables() const {
  std::vector<Variable> out = variables();
  std::erase_if(out, [](const Variable& v) { return !v.trainable(); });
  return out;
}

std::vector<Variable> ModuleObject::non_trainable_variables() const {
  std::vector<Variable> out = variables();
  std::erase_if(out, [](const Variable& v) { return v.trainable(); });
  return out;
}

std::vector<Ref<ModuleObject>> ModuleObject::submodules() const { return all_parts(*this).modules; }

Module::Module(std::string name) {
  if (!is_identifier(name))
    fail(Code::E1103, cat("Module: the name \"", name, "\" is no identifier"),
         "names of modules become parts of names of variables and ops",
         {manual_fix("use letters, digits and `_`, and no digit first")});
  std::string scope = cat(context().name_scope, name, "/");
  object_ = make_ref<ModuleObject>(std::move(name), std::move(scope));
}

Variable Module::variable(const std::string& name, const In& initial, VariableOptions o) {
  NameScope in = name_scope();
  o.name = name;
  return variable(Variable(initial, std::move(o)));
}

Variable Module::variable(const Variable& v) {
  object_->hold(v);
  return v;
}

TensorAttribute Module::attribute(const std::string& name, Tensor initial) const {
  return TensorAttribute(scope_name() + name, std::move(initial));
}

void Module::hold(const Module& m) { object_->hold(m.object_); }

std::vector<Module> Module::submodules() const {
  std::vector<Module> out;
  for (Ref<ModuleObject>& m : object_->submodules()) out.push_back(Module(std::move(m)));
  return out;
}

}  // namespace holdfast
