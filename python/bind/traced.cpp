// The call of a traced function: one C function that binds the arguments, finds a trace that fits
// and runs it. Whatever it does not understand goes to the Python method `_slow_call`.
#include "python/bind/traced.h"

#include "holdfast/exec/traces.h"
#include "python/bind/entry.h"
#include "python/bind/methods.h"
#include "python/bind/structure.h"

namespace holdfast::py {
namespace {

constexpr size_t kMost = 128;

// A trace as Python holds it, and what C needs to call it alone, once that is known.
struct PyTrace final : RefCounted {
  explicit PyTrace(PyObject* trace) : python(Object::share(trace)) {}
  Object python;
  Ref<Entry> entry;  // set once
};

struct TracedFunction {
  Traces<PyTrace> traces{kMost};
  std::optional<Signature> signature;
};

using PyTraced = Called<TracedFunction>;

Traces<PyTrace>& traces_of(PyObject* o) { return PyTraced::of(o).traces; }

bool g_eagerly = false;

// Null without an error where no trace fits.
PyObject* call_fitting(Traces<PyTrace>& traces, const Bound& call) {
  Inputs in;
  Ref<PyTrace> found = traces.find([&](const PyTrace& t) {
    in.clear();
    return t.entry && t.entry->facts_hold() && t.entry->fits(call, in);
  });
  return found ? found->entry->run(call, in) : nullptr;
}

PyObject* call(PyObject* self, PyObject* const* args, size_t flagged, PyObject* kwnames) {
  auto n = static_cast<size_t>(PyVectorcall_NARGS(flagged));
  TracedFunction& function = PyTraced::of(self);
  if (!g_eagerly && !context().interpreter && !function.traces.empty()) {
    bool failed = false;
    PyObject* result = attempted(
        [&]() -> PyObject* {
          Bound bound;
          return function.signature->bind(args, n, kwnames, bound)
                     ? call_fitting(function.traces, bound)
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
    std::optional<Signature>& signature = PyTraced::of(self).signature;
    if (signature) type_error("a traced function is made once");
    signature.emplace(names, nameless, keywords, defaults, none, any_positional != 0,
                      any_keyword != 0);
    Py_RETURN_NONE;
  });
}

bool said(PyObject* answer) {
  Object held = Object::steal(answer);
  int yes = PyObject_IsTrue(held.get());
  if (yes < 0) throw PythonError{};
  return yes;
}

// The trace that serves a call, by the word of `Trace.fits`; None if none does.
PyObject* find(PyObject* self, PyObject* call) {
  return guarded([&]() -> PyObject* {
    static PyObject* fits = PyUnicode_InternFromString("fits");
    Ref<PyTrace> found = traces_of(self).find([&](const PyTrace& t) {
      return said(PyObject_CallMethodOneArg(t.python.get(), fits, call));
    });
    return Py_NewRef(found ? found->python.get() : Py_None);
  });
}

// Adds a trace, and forgets those for objects that are gone.
PyObject* add(PyObject* self, PyObject* trace) {
  return guarded([&]() -> PyObject* {
    static PyObject* orphaned = PyUnicode_InternFromString("orphaned");
    auto dropped = traces_of(self).add(make_ref<PyTrace>(trace), [&](const PyTrace& t) {
      return said(PyObject_CallMethodNoArgs(t.python.get(), orphaned));
    });
    Py_RETURN_NONE;
  });
}

PyObject* forget(PyObject* self, PyObject* trace) {
  return guarded([&]() -> PyObject* {
    auto dropped = traces_of(self).drop([&](const PyTrace& t) { return t.python.get() == trace; });
    Py_RETURN_NONE;
  });
}

// _offer(trace, what `record` says of it): C calls it from now on.
PyObject* offer(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *trace, *description;
    if (!PyArg_ParseTuple(args, "OO", &trace, &description)) throw PythonError{};
    if (!PyTraced::of(self).signature) type_error("a traced function has no parameters yet");
    auto made = make_ref<Entry>(description);
    for (const Ref<PyTrace>& t : traces_of(self).list())
      if (t->python.get() == trace && !t->entry) t->entry = std::move(made);
    Py_RETURN_NONE;
  });
}

// The traces, the one used last first.
PyObject* get_traces(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    Object out = Object::steal(PyList_New(0));
    for (const Ref<PyTrace>& t : Traces<PyTrace>::List(traces_of(self).list()))
      if (PyList_Append(out.get(), t->python.get()) < 0) throw PythonError{};
    return out.release();
  });
}

PyObject* get_bound(PyObject* self, PyObject* instance, PyObject* owner) {
  if (!instance || instance == Py_None) return Py_NewRef(self);
  if (Object found = method_of(self, instance)) return found.release();
  return PyObject_CallMethod(self, "_bound_to", "OO", instance, owner ? owner : Py_None);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const TracedFunction* function = PyTraced::left(self);
  if (!function) return 0;
  auto each = [&](PyObject* o) { return o ? visit(o, arg) : 0; };
  for (const Ref<PyTrace>& t : function->traces.list()) {
    if (!t->unique()) continue;  // a call that runs now holds it too
    Py_VISIT(t->python.get());
    if (t->entry)
      if (int r = t->entry->visit(each)) return r;
  }
  return function->signature ? function->signature->visit(each) : 0;
}

PyMethodDef methods[] = {{"_set_parameters", set_parameters, METH_VARARGS, nullptr},
                         {"_find", find, METH_O, nullptr},
                         {"_add", add, METH_O, nullptr},
                         {"_forget", forget, METH_O, nullptr},
                         {"_offer", offer, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef properties[] = {{"_traces", get_traces, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
#define SLOT(id, fn) {id, reinterpret_cast<void*>(fn)}
PyType_Slot slots[] = {SLOT(Py_tp_call, PyVectorcall_Call),
                       SLOT(Py_tp_methods, methods),
                       {Py_tp_getset, properties},
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
