// The call of a traced function: one C function that binds the arguments, finds a trace that fits
// and runs it. Whatever it does not understand goes to the Python method `_slow_call`.
#include "python/bind/traced.h"

#include <algorithm>

#include "python/bind/entry.h"
#include "python/bind/methods.h"
#include "python/bind/structure.h"

namespace holdfast::py {
namespace {

constexpr size_t kMost = 32;  // traces that are tried; the one used last comes first

struct Traces {
  std::vector<Ref<Entry>> entries;
  std::optional<Signature> signature;
  uint64_t clock = 0;  // calls so far, those that Python found a trace for included
};

using PyTraced = Called<Traces>;

Traces& traces_of(PyObject* o) { return PyTraced::of(o); }

bool g_eagerly = false;

// Null without an error where no trace fits.
PyObject* call_fitting(Traces& traces, const Bound& call) {
  auto& list = traces.entries;
  for (size_t i = 0; i < list.size(); ++i) {
    Inputs in;
    Ref<Entry> e = list[i];  // another thread may take it off the list while this one runs it
    if (!e->fits(call, in)) continue;
    e->used = ++traces.clock;
    if (i && i < list.size() && list[i] == e)
      std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i),
                  list.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return e->run(call, in);
  }
  return nullptr;
}

PyObject* call(PyObject* self, PyObject* const* args, size_t flagged, PyObject* kwnames) {
  auto n = static_cast<size_t>(PyVectorcall_NARGS(flagged));
  Traces& traces = traces_of(self);
  if (!g_eagerly && !context().interpreter && !traces.entries.empty()) {
    bool failed = false;
    PyObject* result = attempted(
        [&]() -> PyObject* {
          Bound bound;
          return traces.signature->bind(args, n, kwnames, bound) ? call_fitting(traces, bound)
                                                                 : nullptr;
        },
        failed);
    if (result || failed) return result;
  }
  return slow_call(self, args, n, kwnames);
}

// _set_parameters(names, nameless, keywords, defaults, none, any_positional, any_keyword)
PyObject* set_parameters(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *names, *keywords, *defaults, *none;
    Py_ssize_t nameless;
    int any_positional, any_keyword;
    if (!PyArg_ParseTuple(args, "O!nO!O!Opp", &PyTuple_Type, &names, &nameless, &PyTuple_Type,
                          &keywords, &PyTuple_Type, &defaults, &none, &any_positional,
                          &any_keyword))
      throw PythonError{};
    // A call that runs refers to its defaults.
    if (traces_of(self).signature) type_error("a traced function is made once");
    traces_of(self).signature.emplace(names, nameless, keywords, defaults, none,
                                      any_positional != 0, any_keyword != 0);
    Py_RETURN_NONE;
  });
}

// Adds a trace, and forgets those for objects that are gone.
PyObject* add_fast(PyObject* self, PyObject* description) {
  return guarded([&]() -> PyObject* {
    if (!traces_of(self).signature) type_error("a traced function has no parameters yet");
    auto made = make_ref<Entry>(description);
    std::vector<Ref<Entry>> kept{std::move(made)}, old;
    for (auto& e : traces_of(self).entries)
      if (kept.size() < kMost && !e->pattern().orphaned()) kept.push_back(e);
    old = std::exchange(traces_of(self).entries, std::move(kept));
    old.clear();  // may run code of the user's, when the list is whole again
    Py_RETURN_NONE;
  });
}

// When each trace was used last: a dict of times by numbers, which only grow.
PyObject* uses(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Object out = Object::steal(PyDict_New());
    for (auto& e : traces_of(self).entries) {
      Object number = Object::steal(PyLong_FromSsize_t(e->number()));
      Object used = Object::steal(PyLong_FromUnsignedLongLong(e->used));
      if (PyDict_SetItem(out.get(), number.get(), used.get()) < 0) throw PythonError{};
    }
    return out.release();
  });
}
PyObject* tick(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(++traces_of(self).clock);
}

PyObject* clear_fast(PyObject* self, PyObject*) {
  auto old = std::exchange(traces_of(self).entries, {});
  old.clear();
  Py_RETURN_NONE;
}

PyObject* get_bound(PyObject* self, PyObject* instance, PyObject* owner) {
  if (!instance || instance == Py_None) return Py_NewRef(self);
  if (Object found = method_of(self, instance)) return found.release();
  return PyObject_CallMethod(self, "_bound_to", "OO", instance, owner ? owner : Py_None);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const Traces* traces = PyTraced::left(self);
  if (!traces) return 0;
  auto each = [&](PyObject* o) { return o ? visit(o, arg) : 0; };
  for (auto& e : traces->entries)
    if (e->unique())  // else a call that runs now holds it too
      if (int r = e->visit(each)) return r;
  return traces->signature ? traces->signature->visit(each) : 0;
}

PyMethodDef methods[] = {{"_set_parameters", set_parameters, METH_VARARGS, nullptr},
                         {"_add_fast", add_fast, METH_O, nullptr},
                         {"_uses", uses, METH_NOARGS, nullptr},
                         {"_tick", tick, METH_NOARGS, nullptr},
                         {"_clear_fast", clear_fast, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
#define SLOT(id, fn) {id, reinterpret_cast<void*>(fn)}
PyType_Slot slots[] = {SLOT(Py_tp_call, PyVectorcall_Call),
                       SLOT(Py_tp_methods, methods),
                       {Py_tp_members, PyTraced::members()},
                       SLOT(Py_tp_descr_get, get_bound),
                       SLOT(Py_tp_traverse, traverse),
                       SLOT(Py_tp_clear, PyTraced::clear),
                       SLOT(Py_tp_dealloc, PyTraced::dealloc),
                       SLOT(Py_tp_new, PyTraced::make<call>),
                       {0, nullptr}};
PyType_Spec spec = {
    "holdfast._holdfast.TracedBase", sizeof(PyTraced), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    slots};

PyObject* set_eagerly(PyObject*, PyObject* flag) {
  int on = PyObject_IsTrue(flag);
  if (on < 0) return nullptr;
  g_eagerly = on;
  Py_RETURN_NONE;
}
// Whether objects of a type find attributes the usual way. Types written in C say so by a function
// that Python can't compare.
PyObject* reads_plainly(PyObject*, PyObject* type) {
  return PyBool_FromLong(PyType_Check(type) && reinterpret_cast<PyTypeObject*>(type)->tp_getattro ==
                                                   PyObject_GenericGetAttr);
}
// A class of ours, written in Python over one that is called by a vector, is called so too. Python
// 3.12 sees to that itself.
PyObject* call_by_vector(PyObject*, PyObject* type) {
  auto* t = reinterpret_cast<PyTypeObject*>(type);
  if (PyType_Check(type) && t->tp_call == PyVectorcall_Call && t->tp_vectorcall_offset > 0) {
    t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyType_Modified(t);
  }
  return Py_NewRef(type);
}
PyMethodDef module_methods[] = {
    {"call_by_vector", call_by_vector, METH_O, "Lets calls of a class's objects skip a dict."},
    {"reads_plainly", reads_plainly, METH_O,
     "Whether objects of a type find attributes the usual way."},
    {"set_functions_eager", set_eagerly, METH_O, "Whether traced functions run as plain Python."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* slow_call(PyObject* self, PyObject* const* args, size_t n, PyObject* kwnames) {
  static PyObject* name = PyUnicode_InternFromString("_slow_call");
  size_t all = n + (kwnames ? static_cast<size_t>(PyTuple_GET_SIZE(kwnames)) : 0);
  InlineVector<PyObject*, 8> with_self;
  with_self.push_back(self);
  for (size_t i = 0; i < all; ++i) with_self.push_back(args[i]);
  return PyObject_VectorcallMethod(name, with_self.data(), n + 1, kwnames);
}

void init_traced(PyObject* module) {
  Object type = Object::steal(PyType_FromSpec(&spec));
  if (PyModule_AddObjectRef(module, "TracedBase", type.get()) < 0 ||
      PyModule_AddFunctions(module, module_methods) < 0)
    throw PythonError{};
  init_structure(module);
  init_locations(module);
  init_stores(module);
  init_methods(module);
  init_concrete_call(module);
}

}  // namespace holdfast::py
