#include "holdfast/exec/module.h"

#include <algorithm>

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

}  // namespace

Module::Module(std::string name) : state_(make_ref<State>()) {
  if (!is_identifier(name))
    fail(Code::E1103, cat("Module: the name \"", name, "\" is no identifier"),
         "names of modules become parts of names of variables and ops",
         {manual_fix("use letters, digits and `_`, and no digit first")});
  state_->scope = cat(context().name_scope, name, "/");
  state_->name = std::move(name);
}

Variable Module::variable(const std::string& name, const In& initial, VariableOptions o) {
  NameScope in = name_scope();
  o.name = name;
  return variable(Variable(initial, std::move(o)));
}

Variable Module::variable(const Variable& v) {
  if (!v) fail(Code::E1104, cat("module `", name(), "` is given a Variable that was never made"));
  if (!has(state_->variables, v)) state_->variables.push_back(v);
  return v;
}

// Parts are counted references, so a module inside itself would never be freed.
void Module::hold(const Module& m) {
  if (has(m.all(), state_))
    fail(Code::E1103,
         cat("module `", m.name(), "` can't be held by `", name(),
             "`: it is that module, or holds it"),
         "a module that holds itself would never be freed");
  if (!has(state_->modules, m.state_)) state_->modules.push_back(m.state_);
}

std::vector<Ref<Module::State>> Module::all() const {
  std::vector<Ref<State>> out, left{state_};
  while (!left.empty()) {
    Ref<State> next = std::move(left.back());
    left.pop_back();
    if (has(out, next)) continue;
    left.insert(left.end(), next->modules.rbegin(), next->modules.rend());
    out.push_back(std::move(next));
  }
  return out;
}

std::vector<Variable> Module::variables() const {
  std::vector<Variable> out;
  for (const Ref<State>& s : all())
    for (const Variable& v : s->variables)
      if (!has(out, v)) out.push_back(v);
  return out;
}

std::vector<Variable> Module::trainable_variables() const {
  std::vector<Variable> out = variables();
  std::erase_if(out, [](const Variable& v) { return !v.trainable(); });
  return out;
}

std::vector<Variable> Module::non_trainable_variables() const {
  std::vector<Variable> out = variables();
  std::erase_if(out, [](const Variable& v) { return v.trainable(); });
  return out;
}

std::vector<Module> Module::submodules() const {
  std::vector<Module> out;
  for (Ref<State>& s : all())
    if (s != state_) out.push_back(Module(std::move(s)));
  return out;
}

}  // namespace holdfast
