// The call of a traced function: one C function that matches arguments and guards and runs the
// plan. Whatever it does not understand goes to the Python method `_slow_call`.
#include "python/bind/traced.h"

#include <Python.h>
#include <structmember.h>

#include "holdfast/exec/concrete.h"
#include "python/bind/call.h"
#include "python/bind/nb.h"

namespace nb = nanobind;

namespace holdfast::py {
namespace {

// A place in the user's program whose value is read at each call: an entry of a dict, a cell, an
// attribute.
struct Place {
  enum Kind { kDict, kCell, kAttribute, kHeld } kind = kDict;
  Object holder;  // the dict, the cell, a weak reference to the object, or the object where its
                  // type allows none
  Object key;

  // Borrowed, or null where there is nothing any more. Sets no Python error.
  PyObject* read() const {
    PyObject* from = holder.get();
    if (kind == kCell) return PyCell_GET(from);
    if (kind == kAttribute || kind == kHeld) {
      PyObject* object = kind == kHeld ? from : PyWeakref_GetObject(from);
      if (!object || object == Py_None) return nullptr;
      PyObject** dict = _PyObject_GetDictPtr(object);
      if (!dict || !*dict) return nullptr;
      from = *dict;
    }
    PyObject* found = PyDict_GetItemWithError(from, key.get());
    if (!found) PyErr_Clear();
    return found;
  }
};

struct Guard {
  Place place;
  Object expected;
  bool identity = true;

  bool holds() const {
    PyObject* now = place.read();
    if (now == expected.get()) return true;
    if (identity || !now || Py_TYPE(now) != Py_TYPE(expected.get())) return false;
    int equal = PyObject_RichCompareBool(now, expected.get(), Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
  }
};

struct Late {
  size_t input;
  Place place;
};

// One token of an argument's structure: a tensor of a type, the beginning of a list or tuple, a
// plain value.
struct Token {
  enum Kind : uint8_t { kTensor, kList, kTuple, kValue } kind = kTensor;
  Type type;
  Py_ssize_t count = 0;
  Object value;
};

enum class Form : uint8_t { kNothing, kOne, kTuple, kList, kFinished };

// One trace that can be called without Python.
struct Entry final : RefCounted {
  Ref<ConcreteFunction> function;
  Object code;                   // keeps the Python code alive that the graph calls
  std::vector<Token> arguments;  // what the arguments must be, beginning with the tuple of them
  std::vector<Tensor> captured;
  std::vector<Late> late;
  std::vector<Guard> guards;
  Form form = Form::kOne;
  std::vector<size_t> results;
  Object finish;  // makes the result out of all outputs, and performs stores; where `form` says so
};

constexpr size_t kMost = 8;

using Entries = std::vector<Ref<Entry>>;

struct PyTraced {
  PyObject_HEAD Entries* entries;
  PyObject* weakrefs;
};

Entries& entries_of(PyObject* o) {
  auto* self = reinterpret_cast<PyTraced*>(o);
  if (!self->entries) self->entries = new Entries;
  return *self->entries;
}

using Inputs = InlineVector<Tensor, 8>;

// Whether `o` is what the tokens from `at` on say; collects its tensors.
bool fits(const std::vector<Token>& tokens, size_t& at, PyObject* o, Inputs& in) {
  const Token& t = tokens[at++];
  switch (t.kind) {
    case Token::kTensor: {
      if (!is_tensor(o)) return false;
      const TensorRep& rep = *reinterpret_cast<PyTensor*>(o)->rep;
      if (rep.symbolic || rep.dtype != t.type.dtype) return false;
      if (!(rep.shape == t.type.shape) &&
          (t.type.shape.is_full() || !t.type.shape.compatible(rep.shape)))
        return false;
      in.push_back(tensor_of(o));
      return true;
    }
    case Token::kValue: {
      if (o == t.value.get()) return true;
      if (Py_TYPE(o) != Py_TYPE(t.value.get())) return false;
      int equal = PyObject_RichCompareBool(o, t.value.get(), Py_EQ);
      if (equal < 0) PyErr_Clear();
      return equal == 1;
    }
    case Token::kList:
      if (!PyList_CheckExact(o) || PyList_GET_SIZE(o) != t.count) return false;
      for (Py_ssize_t i = 0; i < t.count; ++i)
        if (!fits(tokens, at, PyList_GET_ITEM(o, i), in)) return false;
      return true;
    case Token::kTuple:
      if (!PyTuple_CheckExact(o) || PyTuple_GET_SIZE(o) != t.count) return false;
      for (Py_ssize_t i = 0; i < t.count; ++i)
        if (!fits(tokens, at, PyTuple_GET_ITEM(o, i), in)) return false;
      return true;
  }
  return false;
}

bool fits(const Entry& e, PyObject* args, Inputs& in) {
  size_t at = 0;
  if (!fits(e.arguments, at, args, in)) return false;
  for (const Guard& g : e.guards)
    if (!g.holds()) return false;
  for (const Late& l : e.late) {
    PyObject* now = l.place.read();
    if (!now || !is_tensor(now)) return false;
    const TensorRep& rep = *reinterpret_cast<PyTensor*>(now)->rep;
    const Tensor& was = e.captured[l.input];
    if (rep.symbolic || rep.dtype != was.dtype() || !(rep.shape == was.shape())) return false;
  }
  return true;
}

PyObject* results(const Entry& e, Tensors& out) {
  if (e.form == Form::kNothing) Py_RETURN_NONE;
  if (e.form == Form::kOne) return wrap(std::move(out[e.results[0]]));
  if (e.form == Form::kFinished) {
    Object list = Object::steal(PyList_New(static_cast<Py_ssize_t>(out.size())));
    for (size_t i = 0; i < out.size(); ++i) {
      PyObject* t = out[i] ? wrap(std::move(out[i])) : Py_NewRef(Py_None);
      if (!t) throw PythonError{};
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), t);
    }
    PyObject* result = PyObject_CallOneArg(e.finish.get(), list.get());
    if (!result) throw PythonError{};
    return result;
  }
  auto n = static_cast<Py_ssize_t>(e.results.size());
  Object list = Object::steal(e.form == Form::kTuple ? PyTuple_New(n) : PyList_New(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* t = wrap(out[e.results[static_cast<size_t>(i)]]);
    if (!t) throw PythonError{};
    if (e.form == Form::kTuple)
      PyTuple_SET_ITEM(list.get(), i, t);
    else
      PyList_SET_ITEM(list.get(), i, t);
  }
  return list.release();
}

PyObject* run_entry(Entry& e, Inputs& in) {
  mark();
  size_t first = in.size();
  for (const Tensor& t : e.captured) in.push_back(t);
  for (const Late& l : e.late) in[first + l.input] = tensor_of(l.place.read());
  Tensors out;
  {
    Unlocked unlocked(in, e.function->worth_unlocking());
    out = e.function->call(in);
  }
  return results(e, out);
}

bool g_eagerly = false;

PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (!g_eagerly && !context().interpreter && (!kwargs || PyDict_GET_SIZE(kwargs) == 0)) {
    auto& list = entries_of(self);
    for (size_t i = 0; i < list.size(); ++i) {
      Inputs in;
      Ref<Entry> e = list[i];  // another thread may take it off the list while this one runs it
      if (!fits(*e, args, in)) continue;
      if (i && i < list.size() && list[i] == e) std::swap(list[i], list[0]);
      return guarded([&]() -> PyObject* {
        try {
          return run_entry(*e, in);
        } catch (nb::python_error& error) {
          error.restore();
          return nullptr;
        }
      });
    }
  }
  static PyObject* name = PyUnicode_InternFromString("_slow_call");
  PyObject* slow = PyObject_GetAttr(self, name);
  if (!slow) return nullptr;
  PyObject* result = PyObject_Call(slow, args, kwargs);
  Py_DECREF(slow);
  return result;
}

Place place_of(PyObject* tuple) {
  const char* kind;
  PyObject *holder, *key;
  if (!PyArg_ParseTuple(tuple, "sOO", &kind, &holder, &key)) throw PythonError{};
  std::string_view k = kind;
  auto which = k == "dict"   ? Place::kDict
               : k == "cell" ? Place::kCell
               : k == "held" ? Place::kHeld
                             : Place::kAttribute;
  return {which, Object::share(holder), Object::share(key)};
}

// add_fast(function, types, captured, late, guards, form, results, finish)
PyObject* add_fast(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *function, *types, *captured, *late, *guards, *results, *finish;
    const char* form;
    if (!PyArg_ParseTuple(args, "OO!O!O!O!sO!O", &function, &PyList_Type, &types, &PyList_Type,
                          &captured, &PyList_Type, &late, &PyList_Type, &guards, &form,
                          &PyList_Type, &results, &finish))
      throw PythonError{};
    auto e = make_ref<Entry>();
    const Concrete& concrete = concrete_of(function);
    e->function = concrete.function;
    e->code = concrete.code;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(types); ++i) {
      const char* kind;
      PyObject *what, *dims;
      if (!PyArg_ParseTuple(PyList_GET_ITEM(types, i), "sOO", &kind, &what, &dims))
        throw PythonError{};
      std::string_view k = kind;
      Token t;
      if (k == "tensor") {
        auto ints = dims == Py_None ? std::nullopt : ints_of(dims);
        t.type = {dtype_of_object(what), ints ? Shape(*ints) : Shape::unknown()};
      } else if (k == "value") {
        t.kind = Token::kValue;
        t.value = Object::share(what);
      } else {
        t.kind = k == "list" ? Token::kList : Token::kTuple;
        t.count = PyLong_AsSsize_t(what);
      }
      e->arguments.push_back(std::move(t));
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(captured); ++i)
      e->captured.push_back(tensor_of(PyList_GET_ITEM(captured, i)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(late); ++i) {
      Py_ssize_t input;
      PyObject* place;
      if (!PyArg_ParseTuple(PyList_GET_ITEM(late, i), "nO", &input, &place)) throw PythonError{};
      e->late.push_back({static_cast<size_t>(input), place_of(place)});
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(guards); ++i) {
      PyObject *place, *expected;
      int identity;
      if (!PyArg_ParseTuple(PyList_GET_ITEM(guards, i), "OOp", &place, &expected, &identity))
        throw PythonError{};
      e->guards.push_back({place_of(place), Object::share(expected), identity != 0});
    }
    std::string_view f = form;
    e->form = f == "one"        ? Form::kOne
              : f == "tuple"    ? Form::kTuple
              : f == "list"     ? Form::kList
              : f == "finished" ? Form::kFinished
                                : Form::kNothing;
    e->finish = Object::share(finish);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(results); ++i)
      e->results.push_back(PyLong_AsSize_t(PyList_GET_ITEM(results, i)));
    auto& list = entries_of(self);
    list.insert(list.begin(), std::move(e));
    if (list.size() > kMost) list.pop_back();
    Py_RETURN_NONE;
  });
}

PyObject* clear_fast(PyObject* self, PyObject*) {
  auto old = std::move(entries_of(self));
  entries_of(self).clear();
  old.clear();
  Py_RETURN_NONE;
}

template <class F>
int visit_objects(PyObject* self, F&& visit) {
  auto* list = reinterpret_cast<PyTraced*>(self)->entries;
  if (!list) return 0;
  for (auto& e : *list) {
    if (!e->unique()) continue;  // a call that runs now holds it too
    for (PyObject* o : {e->code.get(), e->finish.get()})
      if (int r = visit(o)) return r;
    for (Guard& g : e->guards)
      for (PyObject* o : {g.place.holder.get(), g.place.key.get(), g.expected.get()})
        if (int r = visit(o)) return r;
    for (Late& l : e->late)
      for (PyObject* o : {l.place.holder.get(), l.place.key.get()})
        if (int r = visit(o)) return r;
  }
  return 0;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return visit_objects(self, [&](PyObject* o) { return o ? visit(o, arg) : 0; });
}
int clear(PyObject* self) {
  auto* traced = reinterpret_cast<PyTraced*>(self);
  delete std::exchange(traced->entries, nullptr);
  return 0;
}
void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {{"_add_fast", add_fast, METH_VARARGS, nullptr},
                         {"_clear_fast", clear_fast, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
#define SLOT(id, fn) {id, reinterpret_cast<void*>(fn)}
PyType_Slot slots[] = {SLOT(Py_tp_call, call),
                       SLOT(Py_tp_methods, methods),
                       SLOT(Py_tp_traverse, traverse),
                       SLOT(Py_tp_clear, clear),
                       SLOT(Py_tp_dealloc, dealloc),
                       SLOT(Py_tp_new, PyType_GenericNew),
                       {0, nullptr}};
PyType_Spec spec = {"holdfast._holdfast.TracedBase", sizeof(PyTraced), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

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
PyMethodDef module_methods[] = {
    {"reads_plainly", reads_plainly, METH_O,
     "Whether objects of a type find attributes the usual way."},
    {"set_functions_eager", set_eagerly, METH_O, "Whether traced functions run as plain Python."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_traced(PyObject* module) {
  Object type = Object::steal(PyType_FromSpec(&spec));
  if (PyModule_AddObjectRef(module, "TracedBase", type.get()) < 0 ||
      PyModule_AddFunctions(module, module_methods) < 0)
    throw PythonError{};
}

}  // namespace holdfast::py
