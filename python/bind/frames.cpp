// The package's functions as users call them. Python adds a frame to a traceback when an exception
// leaves the function, and nothing written in Python can take back its own. `PublicFunction` has no
// frame: it calls the function, and takes the package's frames off an exception that comes out.
#include <frameobject.h>
#include <structmember.h>

#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/diagnostic.h"
#include "python/bind/py.h"

namespace holdfast::py {
namespace {

struct PyPublic {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* function;
  PyObject* dict;
  PyObject* weakrefs;
};
PyTypeObject* public_type = nullptr;

// Where files lie: ours; NumPy's and Python's own, which are hidden where we call them and shown
// where the user does; and what is installed below Python's own, which is as the user's.
struct Folders {
  std::vector<std::string> staging;  // of ours: what calls things for the user's converted code
  std::vector<std::string> ours, numpy, installed, standard;
  Object refuse_call;
};
Folders& folders() {
  static auto* it = new Folders;  // outlives the interpreter's last frames
  return *it;
}

bool below(std::string_view file, const std::vector<std::string>& list) {
  for (auto& folder : list)
    if (file.starts_with(folder)) return true;
  return false;
}

// Takes over a new reference, which may be none.
Object owned(PyObject* p) {
  Object o = Object::share(p);
  Py_XDECREF(p);
  return o;
}

enum class Kind { kStaging, kOurs, kLibrary, kTheirs };

Kind kind_of(PyTracebackObject* t) {
  Object code = owned(reinterpret_cast<PyObject*>(PyFrame_GetCode(t->tb_frame)));
  const char* text = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(code.get())->co_filename);
  if (!text) {
    PyErr_Clear();
    return Kind::kTheirs;
  }
  std::string_view file = text;
  const Folders& known = folders();
  if (below(file, known.staging)) return Kind::kStaging;
  if (below(file, known.ours)) return Kind::kOurs;
  if (below(file, known.numpy)) return Kind::kLibrary;
  if (below(file, known.installed)) return Kind::kTheirs;
  return below(file, known.standard) ? Kind::kLibrary : Kind::kTheirs;
}

// The traceback without what the user did not write; new, or null if nothing is left. Entries are
// copied: another exception may hold the same ones.
Object shown(PyObject* trace) {
  std::vector<PyTracebackObject*> kept;
  bool called_by_us = true;
  for (auto* t = reinterpret_cast<PyTracebackObject*>(trace); t; t = t->tb_next) {
    Kind kind = kind_of(t);
    called_by_us = kind == Kind::kOurs || (kind == Kind::kLibrary && called_by_us);
    if (!called_by_us && kind != Kind::kStaging) kept.push_back(t);
  }
  Object next;
  for (size_t i = kept.size(); i-- > 0;) {
    auto* t = reinterpret_cast<PyObject*>(kept[i]);
    auto* frame = reinterpret_cast<PyObject*>(kept[i]->tb_frame);
    Object line = Object::steal(PyObject_GetAttrString(t, "tb_lineno"));
    next = Object::steal(PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyTraceBack_Type),
                                               "OOiO", next ? next.get() : Py_None, frame,
                                               kept[i]->tb_lasti, line.get()));
  }
  return next;
}

// What we tried before is no news to the user: an exception of our own that was being handled.
void hide_context(PyObject* error, int depth) {
  Object before = owned(PyException_GetContext(error));
  if (!before || depth > 8) return;
  hide_context(before.get(), depth + 1);
  Object trace = owned(PyException_GetTraceback(before.get()));
  // None where a program took it off: `e.with_traceback(None)`.
  if (!trace || !PyTraceBack_Check(trace.get())) return;
  Object left = shown(trace.get());
  // It keeps its frames where it is left out: another exception may come while it is handled.
  if (!left && !owned(PyException_GetCause(error)))
    PyException_SetContext(error, PyException_GetContext(before.get()));
  else
    PyException_SetTraceback(before.get(), left ? left.get() : Py_None);
}

// A call that does not fit the parameters leaves no frame. Sets the error that says so in our
// words; false if the arguments do fit, so that Python means something else.
bool refused(PyObject* function, PyObject* const* args, size_t n, PyObject* kwnames,
             PyObject* self = nullptr) {
  if (!folders().refuse_call) return false;
  Py_ssize_t before = self ? 1 : 0;
  Object given = Object::steal(PyTuple_New(static_cast<Py_ssize_t>(n) + before));
  if (self) PyTuple_SET_ITEM(given.get(), 0, Py_NewRef(self));
  for (size_t i = 0; i < n; ++i)
    PyTuple_SET_ITEM(given.get(), static_cast<Py_ssize_t>(i) + before, Py_NewRef(args[i]));
  Object named = Object::steal(PyDict_New());
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i)
    if (PyDict_SetItem(named.get(), PyTuple_GET_ITEM(kwnames, i),
                       args[n + static_cast<size_t>(i)]) < 0)
      throw PythonError{};
  return !owned(PyObject_CallFunctionObjArgs(folders().refuse_call.get(), function, given.get(),
                                             named.get(), nullptr));
}

PyObject* call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  PyObject* function = reinterpret_cast<PyPublic*>(self)->function;
  PyObject* result = PyObject_Vectorcall(function, args, nargsf, kwnames);
  if (result || !PyErr_Occurred()) return result;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  bool entered = trace || !PyErr_GivenExceptionMatches(type, PyExc_TypeError);
  try {
    if (entered || !PyFunction_Check(function) ||
        !refused(function, args, static_cast<size_t>(PyVectorcall_NARGS(nargsf)), kwnames))
      PyErr_Restore(type, value, trace);
  } catch (const PythonError&) {
    PyErr_Restore(type, value, trace);
  }
  hide_frames();
  return nullptr;
}

PyObject* bound(PyObject* self, PyObject* object, PyObject*) {
  if (!object) {
    Py_INCREF(self);
    return self;
  }
  return PyMethod_New(self, object);
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  auto* self = reinterpret_cast<PyPublic*>(o);
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(self->function);
  Py_VISIT(self->dict);
  return 0;
}

int clear(PyObject* o) {
  auto* self = reinterpret_cast<PyPublic*>(o);
  Py_CLEAR(self->function);
  Py_CLEAR(self->dict);
  return 0;
}

void dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  PyObject_GC_UnTrack(o);
  if (reinterpret_cast<PyPublic*>(o)->weakrefs) PyObject_ClearWeakRefs(o);
  clear(o);
  type->tp_free(o);
  Py_DECREF(type);
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* function = nullptr;
  static const char* names[] = {"function", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:public", const_cast<char**>(names), &function))
    return nullptr;
  // One for each function: it may have several names, and is found again by pickle.
  static PyObject* known_as = PyUnicode_InternFromString("__public__");
  PyObject** kept = nullptr;  // the attributes of the function; there are a thousand at each import
  if (PyFunction_Check(function)) {
    kept = &reinterpret_cast<PyFunctionObject*>(function)->func_dict;
    if (PyObject* known = *kept ? PyDict_GetItemWithError(*kept, known_as) : nullptr)
      return Py_NewRef(known);
    if (PyErr_Occurred() || (!*kept && !(*kept = PyDict_New()))) return nullptr;
  }
  auto* self = reinterpret_cast<PyPublic*>(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  self->vectorcall = call;
  Py_INCREF(function);
  self->function = function;
  Object made = owned(reinterpret_cast<PyObject*>(self));
  if (!kept) return made.release();
  static PyObject* module = PyUnicode_InternFromString("__module__");
  PyObject* home = PyFunction_GET_MODULE(function);
  self->dict = PyDict_New();
  if (!self->dict || PyDict_SetItem(self->dict, module, home ? home : Py_None) < 0 ||
      PyDict_SetItem(*kept, known_as, made.get()) < 0)
    return nullptr;
  return made.release();
}

PyObject* repr(PyObject* o) { return PyObject_Repr(reinterpret_cast<PyPublic*>(o)->function); }

// What its module and name lead to; null without an error where that is nothing.
Object named(PyObject* function) {
  Object at = owned(PyObject_GetAttrString(function, "__module__"));
  at = at ? owned(PyImport_GetModule(at.get())) : Object();
  static PyObject* dot = PyUnicode_InternFromString(".");
  Object path = owned(PyObject_GetAttrString(function, "__qualname__"));
  Object parts = path ? owned(PyUnicode_Split(path.get(), dot, -1)) : Object();
  for (Py_ssize_t i = 0; at && parts && i < PyList_GET_SIZE(parts.get()); ++i)
    at = owned(PyObject_GetAttr(at.get(), PyList_GET_ITEM(parts.get(), i)));
  PyErr_Clear();
  return at;
}

// One that its module has is found there again; else the function it calls is.
PyObject* reduce(PyObject* o, PyObject*) {
  PyObject* function = reinterpret_cast<PyPublic*>(o)->function;
  if (named(function).get() == o) return PyObject_GetAttrString(function, "__qualname__");
  return Py_BuildValue("O(O)", Py_TYPE(o), function);
}

PyObject* get_wrapped(PyObject* o, void*) {
  PyObject* function = reinterpret_cast<PyPublic*>(o)->function;
  Py_INCREF(function);
  return function;
}

// What describes the function: its name and text.
PyObject* get_of_function(PyObject* o, void* name) {
  return PyObject_GetAttrString(reinterpret_cast<PyPublic*>(o)->function,
                                static_cast<const char*>(name));
}

char kName[] = "__name__", kQualname[] = "__qualname__", kDoc[] = "__doc__";
PyGetSetDef getset[] = {
    {"__wrapped__", get_wrapped, nullptr, nullptr, nullptr},
    {kName, get_of_function, nullptr, nullptr, kName},
    {kQualname, get_of_function, nullptr, nullptr, kQualname},
    {kDoc, get_of_function, nullptr, nullptr, kDoc},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyPublic, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyPublic, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyPublic, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
#define SLOT(id, fn) {id, reinterpret_cast<void*>(fn)}
PyType_Slot slots[] = {SLOT(Py_tp_new, make),
                       SLOT(Py_tp_call, PyVectorcall_Call),
                       SLOT(Py_tp_descr_get, bound),
                       SLOT(Py_tp_traverse, traverse),
                       SLOT(Py_tp_clear, clear),
                       SLOT(Py_tp_dealloc, dealloc),
                       SLOT(Py_tp_repr, repr),
                       SLOT(Py_tp_methods, methods),
                       SLOT(Py_tp_getset, getset),
                       SLOT(Py_tp_members, members),
                       {0, nullptr}};
PyType_Spec spec = {"holdfast._holdfast.PublicFunction", sizeof(PyPublic), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR,
                    slots};

std::vector<std::string> texts_of(PyObject* tuple) {
  std::vector<std::string> out;
  Object items = Object::steal(PySequence_Fast(tuple, "expected names of folders"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    const char* text = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(items.get(), i));
    if (!text) throw PythonError{};
    out.emplace_back(text);
  }
  return out;
}

// set_frames(staging, ours, numpy, installed, standard, refuse_call)
PyObject* set_frames(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *staging, *ours, *numpy, *installed, *standard, *refuse_call;
    if (!PyArg_ParseTuple(args, "OOOOOO:set_frames", &staging, &ours, &numpy, &installed, &standard,
                          &refuse_call))
      throw PythonError{};
    folders() = {texts_of(staging),   texts_of(ours),     texts_of(numpy),
                 texts_of(installed), texts_of(standard), Object::share(refuse_call)};
    Py_RETURN_NONE;
  });
}

PyObject* ask_library(PyObject*, PyObject* file) {
  return guarded([&]() -> PyObject* {
    const char* text = PyUnicode_AsUTF8(file);
    if (!text) throw PythonError{};
    return PyBool_FromLong(is_library(text));
  });
}

PyMethodDef module_methods[] = {
    {"set_frames", set_frames, METH_VARARGS, "Says which frames tracebacks do not show."},
    {"is_library", ask_library, METH_O, "Whether a file is Python's own or NumPy's."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void refuse_arguments(PyTypeObject* type, const char* method, PyObject* self, PyObject* const* args,
                      Py_ssize_t n, PyObject* kwnames) {
  Object function =
      Object::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), method));
  if (refused(function.get(), args, static_cast<size_t>(n), kwnames, self)) throw PythonError{};
  type_error(std::string("`") + method + "` got arguments that do not fit its parameters");
}

bool is_library(std::string_view file) noexcept {
  const Folders& known = folders();
  if (below(file, known.numpy)) return true;
  return below(file, known.standard) && !below(file, known.installed);
}

void hide_frames() noexcept {
  if (!PyErr_Occurred() || diag_mode("full")) return;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  try {
    if (value && PyExceptionInstance_Check(value)) hide_context(value, 0);
    if (trace) {
      Object left = shown(trace);
      if (value) PyException_SetTraceback(value, left ? left.get() : Py_None);
      Py_DECREF(trace);
      trace = left.release();
    }
  } catch (const PythonError&) {
    PyErr_Clear();  // the traceback stays as it is
  }
  PyErr_Restore(type, value, trace);
}

void init_frames(PyObject* module) {
  public_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!public_type ||
      PyModule_AddObjectRef(module, "PublicFunction", reinterpret_cast<PyObject*>(public_type)) <
          0 ||
      PyModule_AddFunctions(module, module_methods) < 0)
    throw PythonError{};
}

}  // namespace holdfast::py
