// Python's Module: the C++ class itself, with one count for both languages.
#include "holdfast/base/text.h"
#include "holdfast/keras/foreign.h"
#include "python/bind/arrays.h"
#include "python/bind/in_python.h"

namespace nb = nanobind;

namespace holdfast::py {

PyTypeObject* module_type = nullptr;

namespace {

ModuleObject& module_of(PyObject* o) {
  auto* m = object_behind<ModuleObject>(o);
  if (!m) type_error(cat("expected a module, got ", repr_of(o)));
  return *m;
}

// Modules show tuples, layers of Keras lists.
template <class List>
PyObject* shown_of(const List& list, bool as_list) {
  auto size = static_cast<Py_ssize_t>(list.size());
  Object out = Object::steal(as_list ? PyList_New(size) : PyTuple_New(size));
  Py_ssize_t i = 0;
  auto set = [&](PyObject* one) {
    if (as_list)
      PyList_SET_ITEM(out.get(), i++, one);
    else
      PyTuple_SET_ITEM(out.get(), i++, one);
  };
  for (const auto& one : list) {
    if constexpr (std::is_same_v<typename List::value_type, Variable>)
      set(python_of(*one.state()).release());
    else
      set(python_of(*one).release());
  }
  return out.release();
}

// What `super()` reaches from a Python class is C++'s answer; what C++ made has but one.
std::vector<Variable> own_variables(const ModuleObject& m, Shown which) {
  if (auto* born = dynamic_cast<const PythonBorn*>(&m)) return born->own_variables(which);
  if (auto* born = dynamic_cast<const keras::ForeignBorn*>(&m))
    return born->own_variables(static_cast<keras::Shown>(which));
  return which == Shown::kVariables   ? m.variables()
         : which == Shown::kTrainable ? m.trainable_variables()
                                      : m.non_trainable_variables();
}

std::vector<Ref<ModuleObject>> own_submodules(const ModuleObject& m) {
  if (auto* born = dynamic_cast<const PythonBorn*>(&m)) return born->own_submodules();
  if (auto* born = dynamic_cast<const keras::ForeignBorn*>(&m)) return born->own_submodules();
  return m.submodules();
}

template <Shown which>
PyObject* get_shown(PyObject* o, void*) {
  return method([&] {
    const ModuleObject& m = module_of(o);
    if constexpr (which == Shown::kSubmodules)
      return shown_of(own_submodules(m), false);
    else
      return shown_of(own_variables(m, which), dynamic_cast<const keras::Layer*>(&m) != nullptr);
  });
}

std::string text_argument(PyObject* o, const char* what) {
  if (!PyUnicode_Check(o)) type_error(cat("`", what, "` is no text"));
  return bytes_of(o);
}

PyGetSetDef properties[] = {
    {"variables", &get_shown<Shown::kVariables>, nullptr,
     "All variables of this module and of those it holds.", nullptr},
    {"trainable_variables", &get_shown<Shown::kTrainable>, nullptr,
     "Those variables that are trainable.", nullptr},
    {"non_trainable_variables", &get_shown<Shown::kNonTrainable>, nullptr,
     "Those variables that are not trainable.", nullptr},
    {"submodules", &get_shown<Shown::kSubmodules>, nullptr,
     "All modules that this one holds, at any depth.", nullptr},
    {"_name",
     [](PyObject* o, void*) {
       return method([&] { return text_object(module_of(o).name()).release(); });
     },
     [](PyObject* o, PyObject* name, void*) {
       return setter(name, "_name", [&] {
         ModuleObject& m = module_of(o);
         m.set_name(text_argument(name, "_name"), m.scope_name());
       });
     },
     nullptr, nullptr},
    {"_scope_name",
     [](PyObject* o, void*) {
       return method([&] { return text_object(module_of(o).scope_name()).release(); });
     },
     [](PyObject* o, PyObject* scope, void*) {
       return setter(scope, "_scope_name", [&] {
         ModuleObject& m = module_of(o);
         m.set_name(m.name(), text_argument(scope, "_scope_name"));
       });
     },
     nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <class T, class F>
std::vector<T> listed(PyObject* list, const char* what, const char* expected, F&& one) {
  std::vector<T> out;
  nb::object all = nb::steal(PySequence_Fast(list, ""));
  if (!all.is_valid()) {
    PyErr_Clear();
    type_error(cat("`", what, "` is ", repr_of(list), ", expected a list of ", expected));
  }
  for (nb::handle h : all) out.push_back(one(h.ptr()));
  return out;
}

}  // namespace

std::vector<Variable> variables_from(PyObject* list, const char* what) {
  return listed<Variable>(list, what, "variables", [&](PyObject* o) {
    if (!is_variable(o)) type_error(cat("`", what, "` has ", repr_of(o), " in it, no variable"));
    return variable_of(o);
  });
}

std::vector<Ref<ModuleObject>> modules_from(PyObject* list, const char* what) {
  return listed<Ref<ModuleObject>>(list, what, "modules",
                                   [](PyObject* o) { return Ref<ModuleObject>(&module_of(o)); });
}

Method& shown(Shown which) {
  static auto* all = new Method[4]{Method("variables"), Method("trainable_variables"),
                                   Method("non_trainable_variables"), Method("submodules")};
  return all[static_cast<size_t>(which)];
}

void bind_modules(nb::module_& m) {
  module_type = add_object_type(
      m.ptr(), {.name = "holdfast._holdfast.ModuleBase",
                .kind = &ModuleObject::kClass,
                .getset = properties,
                .make = [] { return Ref<Shared>(make_ref<ModuleInPython<ModuleObject>>()); },
                .doc = "What holds variables and other modules."});
}

}  // namespace holdfast::py
