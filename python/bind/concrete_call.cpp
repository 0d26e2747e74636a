// The call of a concrete function: tensors for the arguments that the trace left open, by position
// or by name. Whatever else is given goes to the Python method `_slow_call`.
#include "python/bind/entry.h"
#include "python/bind/traced.h"

namespace holdfast::py {
namespace {

// One trace and the names of its arguments.
struct Face {
  Ref<Entry> entry;
  std::vector<Object> names;
  std::vector<size_t> open;  // arguments with tensors
};

using PyFace = Called<Face>;

Face& face_of(PyObject* o) { return PyFace::of(o); }

size_t named(const Face& f, PyObject* name) {
  for (size_t i = 0; i < f.names.size(); ++i)
    if (f.names[i].get() == name || PyUnicode_Compare(f.names[i].get(), name) == 0) return i;
  return f.names.size();
}

// Puts arguments in their places; false where Python has to look.
bool placed(const Face& f, PyObject* const* args, size_t n, PyObject* kwnames,
            InlineVector<PyObject*, 8>& out) {
  size_t count = f.entry->pattern().count();
  size_t keywords = kwnames ? static_cast<size_t>(PyTuple_GET_SIZE(kwnames)) : 0;
  // Positional arguments are all of them, or those that the trace left open.
  bool all = n + keywords >= f.names.size();
  size_t most = all ? f.entry->pattern().positional() : f.open.size();
  if (f.names.size() != count || n > most) return false;
  out.resize(count, nullptr);
  for (size_t i = 0; i < n; ++i) out[all ? i : f.open[i]] = args[i];
  for (size_t k = 0; k < keywords; ++k) {
    size_t i = named(f, PyTuple_GET_ITEM(kwnames, static_cast<Py_ssize_t>(k)));
    if (i == count || out[i]) return false;
    out[i] = args[n + k];
  }
  return true;
}

bool fits(const Face& f, const InlineVector<PyObject*, 8>& given, Inputs& in) {
  const Pattern& pattern = f.entry->pattern();
  size_t open = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    bool is_open = open < f.open.size() && f.open[open] == i;
    open += is_open;
    if (given[i] ? !pattern.fits(i, given[i], in) : is_open) return false;
  }
  return f.entry->add_captured(f.entry->places(), in);
}

PyObject* call(PyObject* self, PyObject* const* args, size_t flagged, PyObject* kwnames) {
  auto n = static_cast<size_t>(PyVectorcall_NARGS(flagged));
  Face& face = face_of(self);
  if (face.entry && !context().interpreter && !journal_is_open()) {
    bool failed = false;
    PyObject* result = attempted(
        [&]() -> PyObject* {
          Ref<Entry> entry = face.entry;
          InlineVector<PyObject*, 8> given;
          Inputs in;
          if (!placed(face, args, n, kwnames, given) || !fits(face, given, in)) return nullptr;
          return entry->run(Bound{}, in);
        },
        failed);
    if (result || failed) return result;
  }
  return slow_call(self, args, n, kwnames);
}

// _set_fast(description of the trace, names of its arguments)
PyObject* set_fast(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *description, *names;
    if (!PyArg_ParseTuple(args, "OO!", &description, &PyList_Type, &names)) throw PythonError{};
    Face made{make_ref<Entry>(description), {}, {}};
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names); ++i)
      made.names.push_back(Object::share(PyList_GET_ITEM(names, i)));
    for (size_t i = 0; i < made.entry->pattern().count(); ++i)
      if (made.entry->pattern().is_open(i)) made.open.push_back(i);
    Face old = std::exchange(face_of(self), std::move(made));
    Py_RETURN_NONE;
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const Face* face = PyFace::left(self);
  if (!face || !face->entry || !face->entry->unique()) return 0;  // a call that runs holds it too
  return face->entry->visit([&](PyObject* o) { return o ? visit(o, arg) : 0; });
}

PyMethodDef methods[] = {{"_set_fast", set_fast, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
#define SLOT(id, fn) {id, reinterpret_cast<void*>(fn)}
PyType_Slot slots[] = {SLOT(Py_tp_call, PyVectorcall_Call), SLOT(Py_tp_methods, methods),
                       {Py_tp_members, PyFace::members()},  SLOT(Py_tp_traverse, traverse),
                       SLOT(Py_tp_clear, PyFace::clear),    SLOT(Py_tp_dealloc, PyFace::dealloc),
                       SLOT(Py_tp_new, PyFace::make<call>), {0, nullptr}};
PyType_Spec spec = {
    "holdfast._holdfast.ConcreteBase", sizeof(PyFace), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    slots};

}  // namespace

void init_concrete_call(PyObject* module) {
  Object type = Object::steal(PyType_FromSpec(&spec));
  if (PyModule_AddObjectRef(module, "ConcreteBase", type.get()) < 0) throw PythonError{};
}

}  // namespace holdfast::py
