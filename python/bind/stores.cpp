#include "python/bind/stores.h"

#include <array>
#include <string_view>

namespace holdfast::py {
namespace {

// Which tensors are values from inside a function, handed out by a store. Only messages ask, and of
// tensors of late: the latest are known by their numbers, which no other tensor ever has.
struct Inside {
  struct Note {
    uint64_t tensor = 0;
    Object function;
  };
  std::array<Note, 4096> notes;
  size_t next = 0;
};
Inside& inside() {
  static auto* i = new Inside;  // Python objects must not be freed after the interpreter
  return *i;
}

void note_inside(const TensorRep& rep, PyObject* function) {
  Inside::Note& n = inside().notes[inside().next++ % inside().notes.size()];
  n.tensor = rep.id;
  if (n.function.get() != function) n.function = Object::share(function);
}

thread_local int journals = 0;

// The `__setattr__` of modules, which tells an open journal and is else that of all objects.
Object& listener() {
  static auto* o = new Object;  // Python objects must not be freed after the interpreter
  return *o;
}

// No journal is open when stores are performed here.
int set_heard(PyObject* holder, PyObject* name, PyObject* value) {
  static PyObject* word = PyUnicode_InternFromString("__setattr__");
  return _PyType_Lookup(Py_TYPE(holder), word) == listener().get()
             ? PyObject_GenericSetAttr(holder, name, value)
             : PyObject_SetAttr(holder, name, value);
}

}  // namespace

Object output_list(const Tensors& outputs) {
  Object list = Object::steal(PyList_New(static_cast<Py_ssize_t>(outputs.size())));
  for (size_t i = 0; i < outputs.size(); ++i) {
    PyObject* t = wrap(outputs[i]);
    if (!t) throw PythonError{};
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), t);
  }
  return list;
}

bool journal_is_open() { return journals > 0; }

Store::Store(PyObject* description, size_t places, size_t outputs) {
  constexpr std::string_view kinds[] = {"attribute", "heard",  "entry", "cell",
                                        "item",      "append", "asked"};
  const char* how;
  PyObject *key, *value, *performer;
  if (!PyArg_ParseTuple(description, "siOOiO", &how, &holder_, &key, &value, &condition_,
                        &performer))
    throw PythonError{};
  size_t k = 0;
  while (k < std::size(kinds) && kinds[k] != how) ++k;
  if (k == std::size(kinds)) type_error("a store of a trace is of no known kind");
  kind_ = static_cast<Kind>(k);
  key_ = Object::share(key);
  performer_ = Object::share(performer);
  if (kind_ != kAsked) value_ = Template(value);
  bool known = kind_ == kAsked || (holder_ >= 0 && static_cast<size_t>(holder_) < places);
  value_.each_slot([&](size_t slot) { known &= slot < outputs; });
  if (!known || condition_ >= static_cast<int>(outputs))
    type_error("a store of a trace has no place, or no value");
}

// False where only Python can do it.
bool Store::put(PyObject* holder, PyObject* value) const {
  int failed = 0;
  switch (kind_) {
    case kHeard: failed = set_heard(holder, key_.get(), value); break;
    case kAttribute: failed = PyObject_SetAttr(holder, key_.get(), value); break;
    case kEntry: {
      if (!PyDict_Check(holder)) return false;
      failed = PyDict_SetItem(holder, key_.get(), value);
      break;
    }
    case kCell: failed = PyCell_Set(holder, value); break;
    case kItem: failed = PyObject_SetItem(holder, key_.get(), value); break;
    case kAppend:
      if (!PyList_CheckExact(holder)) return false;
      failed = PyList_Append(holder, value);
      break;
    case kAsked: return false;
  }
  if (failed) throw PythonError{};
  return true;
}

void Store::perform(const Locations& places, const Bound& call, const Tensors& outputs,
                    Object& list, PyObject* function) const {
  if (condition_ >= 0) {
    Object happens = Object::steal(wrap(outputs[static_cast<size_t>(condition_)]));
    int yes = PyObject_IsTrue(happens.get());
    if (yes < 0) throw PythonError{};
    if (!yes) return;
  }
  if (kind_ != kAsked) {
    Object holder = places.read(static_cast<size_t>(holder_), call);
    if (!holder) return;  // it is gone, and nobody misses what it would hold
    Object value = value_.filled(outputs);
    // Before it can be seen: a trace in another thread may find it, and asks.
    value_.each_slot([&](size_t slot) {
      if (outputs[slot].defined()) note_inside(*outputs[slot].rep(), function);
    });
    if (put(holder.get(), value.get())) return;
  }
  if (!list) list = output_list(outputs);
  Object::steal(PyObject_CallOneArg(performer_.get(), list.get()));
}

namespace {

// note_inside(tensor, function)
PyObject* py_note_inside(PyObject*, PyObject* args) {
  PyObject *tensor, *function;
  if (!PyArg_ParseTuple(args, "O!U", tensor_type, &tensor, &function)) return nullptr;
  note_inside(*reinterpret_cast<PyTensor*>(tensor)->rep, function);
  Py_RETURN_NONE;
}

PyObject* function_inside(PyObject*, PyObject* tensor) {
  if (is_tensor(tensor)) {
    uint64_t id = reinterpret_cast<PyTensor*>(tensor)->rep->id;
    for (const Inside::Note& n : inside().notes)
      if (n.function && n.tensor == id) return Py_NewRef(n.function.get());
  }
  return PyUnicode_FromString("");
}

PyObject* note_journal(PyObject*, PyObject* step) {
  long by = PyLong_AsLong(step);
  if (by == -1 && PyErr_Occurred()) return nullptr;
  journals += static_cast<int>(by);
  Py_RETURN_NONE;
}

PyObject* set_listener(PyObject*, PyObject* method) {
  listener() = Object::share(method);
  Py_RETURN_NONE;
}

PyMethodDef module_methods[] = {
    {"set_store_listener", set_listener, METH_O, "The `__setattr__` that only tells journals."},
    {"note_inside", py_note_inside, METH_VARARGS, "A store handed a tensor out of a function."},
    {"function_inside", function_inside, METH_O, "The function a tensor came out of, or nothing."},
    {"note_journal", note_journal, METH_O, "One journal more, or less, is open in this thread."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_stores(PyObject* module) {
  if (PyModule_AddFunctions(module, module_methods) < 0) throw PythonError{};
}

}  // namespace holdfast::py
