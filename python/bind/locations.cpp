#include "python/bind/locations.h"

#include <structmember.h>

#include <string_view>

#include "python/bind/plain.h"

namespace holdfast::py {
namespace {

// Python's word for no value at all, and a class that wraps callables.
struct Known {
  Object missing, partial;
};
Known& known() {
  static auto* k = new Known;  // Python objects must not be freed after the interpreter
  return *k;
}

Object found(PyObject* borrowed) {
  if (!borrowed) PyErr_Clear();
  return Object::share(borrowed);
}

// What a descriptor of a slot gives for an object. Only such descriptors run no code.
Object slot_of(PyObject* descriptor, PyObject* o) {
  PyObject* value =
      Py_TYPE(descriptor)->tp_descr_get(descriptor, o, reinterpret_cast<PyObject*>(Py_TYPE(o)));
  if (!value) {
    PyErr_Clear();  // an empty slot
    return {};
  }
  return Object::steal(value);
}

Object attribute_of(PyObject* o, PyObject* name) {
  if (PyObject* space = space_of(o))
    if (PyObject* value = PyDict_GetItemWithError(space, name)) return Object::share(value);
  PyErr_Clear();
  PyObject* of_class = _PyType_Lookup(Py_TYPE(o), name);
  if (!of_class) return {};
  if (Py_TYPE(of_class) == &PyMemberDescr_Type) return slot_of(of_class, o);
  // A class may hide a slot of the one it is derived from; the value is there all the same.
  PyObject* mro = Py_TYPE(o)->tp_mro;
  for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); ++i) {
    auto* type = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(mro, i));
    PyObject* inside = type->tp_dict ? PyDict_GetItemWithError(type->tp_dict, name) : nullptr;
    if (inside && Py_TYPE(inside) == &PyMemberDescr_Type) return slot_of(inside, o);
  }
  PyErr_Clear();
  return {};
}

// `key` is plain; `index` is it as a number, of a sequence.
Object item_of(PyObject* o, PyObject* key, Py_ssize_t index) {
  if (PyDict_Check(o)) return found(PyDict_GetItemWithError(o, key));
  if (!PyLong_Check(key)) return {};
  bool list = PyList_Check(o);
  if (!list && !PyTuple_Check(o)) return {};
  Py_ssize_t n = Py_SIZE(o), i = index < 0 ? index + n : index;
  if (i < 0 || i >= n) return {};
  return Object::share(list ? PyList_GET_ITEM(o, i) : PyTuple_GET_ITEM(o, i));
}

Object owner_of(PyObject* o) {
  Object method = Object::share(o);
  while (known().partial &&
         PyObject_TypeCheck(method.get(), reinterpret_cast<PyTypeObject*>(known().partial.get()))) {
    PyObject* inner = PyObject_GetAttrString(method.get(), "func");
    if (!inner) {
      PyErr_Clear();
      return {};
    }
    method = Object::steal(inner);
  }
  return PyCFunction_Check(method.get()) ? Object::share(PyCFunction_GetSelf(method.get()))
                                         : Object();
}

}  // namespace

PyObject* space_of(PyObject* o) {
  PyObject** space = _PyObject_GetDictPtr(o);
  return space && *space && PyDict_Check(*space) ? *space : nullptr;
}

Locations::Locations(PyObject* records) {
  constexpr std::string_view kinds[] = {"held", "weak",      "argument", "asked", "entry",
                                        "cell", "attribute", "item",     "owner", "space"};
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(records); ++i) {
    const char* kind;
    int within;
    PyObject* what;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(records, i), "siO", &kind, &within, &what))
      throw PythonError{};
    size_t k = 0;
    while (k < std::size(kinds) && kinds[k] != kind) ++k;
    if (k == std::size(kinds) || within >= i) type_error("a place of a trace is of no known kind");
    Location l{static_cast<Location::Kind>(k), within, Object::share(what), 0};
    bool root = l.kind <= Location::kAsked;
    if (root != (within < 0)) type_error("a place of a trace has no holder, or one too many");
    if (l.kind == Location::kArgument || (l.kind == Location::kItem && PyLong_Check(what)))
      l.index = PyLong_AsSsize_t(what);
    if (PyErr_Occurred()) {  // an item with a number that no list has
      PyErr_Clear();
      l.index = PY_SSIZE_T_MAX;
    }
    some_asked_ |= l.kind == Location::kAsked;
    all_.push_back(std::move(l));
  }
}

Object Locations::value_of(const Location& l, PyObject* holder) {
  switch (l.kind) {
    case Location::kHeld: return l.what;
    case Location::kWeak: return target_of(l.what.get());
    case Location::kArgument: return {};
    case Location::kAsked: return asked(l);
    default: break;
  }
  if (!holder) return {};
  switch (l.kind) {
    case Location::kEntry: return found(PyDict_GetItemWithError(holder, l.what.get()));
    case Location::kCell: return Object::share(PyCell_GET(holder));
    case Location::kAttribute: return attribute_of(holder, l.what.get());
    case Location::kItem: return item_of(holder, l.what.get(), l.index);
    case Location::kOwner: return owner_of(holder);
    case Location::kSpace: return Object::share(space_of(holder));
    default: return {};
  }
}

Object Locations::asked(const Location& l) {
  Object now = Object::steal(PyObject_CallMethod(l.what.get(), "read", nullptr));
  return now.get() == known().missing.get() ? Object() : now;
}

Object Locations::argument(const Location& l, const Bound& call) {
  auto i = static_cast<size_t>(l.index);
  size_t n = call.positional.size();
  if (i < n) return Object::share(call.positional[i]);
  return i - n < call.keywords.size() ? Object::share(call.keywords[i - n]) : Object();
}

Places Locations::read(const Bound* call) const {
  Places out;
  out.resize(all_.size());
  if (some_asked_)
    for (size_t i = 0; i < all_.size(); ++i)
      if (all_[i].kind == Location::kAsked) out[i] = asked(all_[i]);
  for (size_t i = 0; i < all_.size(); ++i) {
    const Location& l = all_[i];
    if (l.kind == Location::kArgument && call)
      out[i] = argument(l, *call);
    else if (l.kind != Location::kAsked)
      out[i] = value_of(l, l.within < 0 ? nullptr : out[static_cast<size_t>(l.within)].get());
  }
  return out;
}

Object Locations::read(size_t index, const Bound& call) const {
  const Location& l = all_[index];
  if (l.kind == Location::kArgument) return argument(l, call);
  if (l.within < 0) return value_of(l, nullptr);
  Object holder = read(static_cast<size_t>(l.within), call);
  return value_of(l, holder.get());
}

namespace {

// set_location_rules(missing, partial)
PyObject* set_rules(PyObject*, PyObject* args) {
  PyObject *missing, *partial;
  if (!PyArg_ParseTuple(args, "OO!", &missing, &PyType_Type, &partial)) return nullptr;
  known() = {Object::share(missing), Object::share(partial)};
  Py_RETURN_NONE;
}
// Whether C finds what an object holds itself where Python does: nothing computes its `__dict__`.
PyObject* holds_plainly(PyObject*, PyObject* o) {
  PyObject* space = PyObject_GetAttrString(o, "__dict__");
  if (!space) PyErr_Clear();
  bool same = space ? space == space_of(o) : !_PyObject_GetDictPtr(o);
  Py_XDECREF(space);
  return PyBool_FromLong(same && !PyType_Check(o));
}
PyObject* plain_key(PyObject*, PyObject* o) { return PyBool_FromLong(is_plain_key(o)); }

PyMethodDef module_methods[] = {
    {"set_location_rules", set_rules, METH_VARARGS, "Python's words for what places hold."},
    {"holds_plainly", holds_plainly, METH_O, "Whether an object's own attributes are no code."},
    {"is_plain_key", plain_key, METH_O, "Whether a key is compared without the user's code."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_locations(PyObject* module) {
  if (PyModule_AddFunctions(module, module_methods) < 0) throw PythonError{};
}

}  // namespace holdfast::py
