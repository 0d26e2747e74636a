// C++ objects that Python made: their class may override what C++ calls.
#pragma once

#include "holdfast/exec/module.h"
#include "python/bind/object.h"

namespace holdfast::py {

/// What a module shows: the methods that C++ and Python have in common.
enum class Shown : uint8_t { kVariables, kTrainable, kNonTrainable, kSubmodules };

/// C++'s own answers for an object whose Python class may have others: what `super()` reaches.
class PythonBorn {
 public:
  virtual ~PythonBorn() = default;
  virtual std::vector<Variable> own_variables(Shown) const = 0;
  virtual std::vector<Ref<ModuleObject>> own_submodules() const = 0;
};

/// The variables or modules in what a Python class says it has.
std::vector<Variable> variables_from(PyObject* list, const char* what);
std::vector<Ref<ModuleObject>> modules_from(PyObject* list, const char* what);
Method& shown(Shown which);

/// A module of class M that Python made. Its virtual methods ask the Python class first.
template <class M>
class ModuleInPython : public M, public PythonBorn {
 public:
  using M::M;
  std::vector<Variable> variables() const override { return ask(Shown::kVariables); }
  std::vector<Variable> trainable_variables() const override { return ask(Shown::kTrainable); }
  std::vector<Variable> non_trainable_variables() const override {
    return ask(Shown::kNonTrainable);
  }
  std::vector<Ref<ModuleObject>> submodules() const override {
    if (WithGil gil; gil && this->shared())
      if (Object own = shown(Shown::kSubmodules).of(*this))
        return modules_from(own.get(), "submodules");
    return M::submodules();
  }
  std::vector<Variable> own_variables(Shown which) const override {
    return which == Shown::kVariables   ? M::variables()
           : which == Shown::kTrainable ? M::trainable_variables()
                                        : M::non_trainable_variables();
  }
  std::vector<Ref<ModuleObject>> own_submodules() const override { return M::submodules(); }

 private:
  std::vector<Variable> ask(Shown which) const {
    if (WithGil gil; gil && this->shared())
      if (Object own = shown(which).of(*this))
        return variables_from(own.get(), shown(which).name());
    return own_variables(which);
  }
};

/// A Python function as the rule of a variable; None: no rule.
Ref<Constraint> constraint_of(PyObject* f);

extern PyTypeObject* module_type;  // ModuleBase
void bind_files(nanobind::module_& m);
void bind_modules(nanobind::module_& m);
void bind_data(nanobind::module_& m);

}  // namespace holdfast::py
