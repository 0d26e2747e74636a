#include "python/bind/structure.h"

#include <cstring>

#include "python/bind/depth.h"

namespace holdfast::py {
namespace {

// What Python decides of classes that are not its own: `classify(type)` gives a Nesting as a
// number; `views` are types whose structures are rebuilt as lists.
struct Rules {
  Object classify, views, defaultdict;
};
Rules& rules() {
  static auto* r = new Rules;  // Python objects must not be freed after the interpreter
  return *r;
}

constexpr const char* kWalking = " while a nested structure was walked";

Object sorted_keys(PyObject* mapping) {
  Object keys =
      Object::steal(PyDict_CheckExact(mapping) ? PyDict_Keys(mapping) : PySequence_List(mapping));
  if (PyList_Sort(keys.get()) == 0) return keys;
  if (PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    PyErr_SetString(PyExc_TypeError, "the keys of this dict have no order, which flattening needs");
  }
  throw PythonError{};
}

Object item_of(PyObject* mapping, PyObject* key) {
  if (!PyDict_CheckExact(mapping)) return Object::steal(PyObject_GetItem(mapping, key));
  PyObject* found = PyDict_GetItemWithError(mapping, key);
  if (found) return Object::share(found);
  if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, key);
  throw PythonError{};
}

Object fields_of(PyTypeObject* type) {
  return Object::steal(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__attrs_attrs__"));
}

// (metadata, children) of a class that takes part by `__tf_flatten__`.
Object custom_parts(PyObject* structure) {
  Object both = Object::steal(PyObject_CallMethod(structure, "__tf_flatten__", nullptr));
  Object tuple = Object::steal(PySequence_Tuple(both.get()));
  if (PyTuple_GET_SIZE(tuple.get()) < 2) {
    PyErr_SetString(PyExc_IndexError, "`__tf_flatten__` gives a pair of metadata and components");
    throw PythonError{};
  }
  return tuple;
}

void append_items(PyObject* sequence, std::vector<Object>& out) {
  Object list = PyList_CheckExact(sequence) || PyTuple_CheckExact(sequence)
                    ? Object::share(sequence)
                    : Object::steal(PySequence_List(sequence));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i)
    out.push_back(Object::share(PySequence_Fast_GET_ITEM(list.get(), i)));
}

Object rebuilt_mapping(PyObject* structure, std::vector<Object>& children) {
  Object keys = sorted_keys(structure);
  auto n = static_cast<size_t>(PyList_GET_SIZE(keys.get()));
  if (n != children.size()) {
    PyErr_SetString(PyExc_ValueError, "a dict changed while its structure was rebuilt");
    throw PythonError{};
  }
  Object values = Object::steal(PyDict_New());
  // In the order it was filled in: first all keys, then their values.
  Object order = Object::steal(PySequence_List(structure));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(order.get()); ++i)
    if (PyDict_SetItem(values.get(), PyList_GET_ITEM(order.get(), i), Py_None) < 0)
      throw PythonError{};
  for (size_t i = 0; i < n; ++i)
    if (PyDict_SetItem(values.get(), PyList_GET_ITEM(keys.get(), static_cast<Py_ssize_t>(i)),
                       children[i].get()) < 0)
      throw PythonError{};
  if (PyDict_CheckExact(structure)) return values;
  Object pairs = Object::steal(PyDict_Items(values.get()));
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(structure));
  int is_default = PyObject_IsInstance(structure, rules().defaultdict.get());
  if (is_default < 0) throw PythonError{};
  // Other mappings than dicts may be made from a mapping alone.
  PyObject* given = PyDict_Check(structure) ? pairs.get() : values.get();
  if (!is_default) return Object::steal(PyObject_CallOneArg(type, given));
  Object factory = Object::steal(PyObject_GetAttrString(structure, "default_factory"));
  return Object::steal(PyObject_CallFunctionObjArgs(type, factory.get(), pairs.get(), nullptr));
}

Object list_of(std::vector<Object>& children) {
  Object list = Object::steal(PyList_New(static_cast<Py_ssize_t>(children.size())));
  for (size_t i = 0; i < children.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), children[i].release());
  return list;
}

Object called_with_each(PyObject* callable, const std::vector<Object>& children) {
  std::vector<PyObject*> args;
  for (const Object& c : children) args.push_back(c.get());
  return Object::steal(PyObject_Vectorcall(callable, args.data(), args.size(), nullptr));
}

bool is_leaf(PyObject* o, bool whole) {
  Nesting kind = nesting(Py_TYPE(o));
  return kind == Nesting::kLeaf || (whole && kind == Nesting::kComposite);
}

Object packed(PyObject* part, const std::vector<Object>& leaves, size_t& at, bool whole) {
  if (is_leaf(part, whole)) {
    if (at >= leaves.size()) {
      PyErr_SetString(PyExc_ValueError, "a structure changed while it was rebuilt");
      throw PythonError{};
    }
    return leaves[at++];
  }
  Deeper deeper(kWalking);
  std::vector<Object> children = children_of(part);
  for (Object& c : children) c = packed(c.get(), leaves, at, whole);
  return rebuilt(part, std::move(children));
}

}  // namespace

Nesting nesting(PyTypeObject* type) {
  if (type == &PyList_Type || type == &PyTuple_Type) return Nesting::kSequence;
  if (type == &PyDict_Type) return Nesting::kMapping;
  if (type == tensor_type || type == &PyFloat_Type || type == &PyLong_Type ||
      type == &PyUnicode_Type || type == &PyBool_Type || type == Py_TYPE(Py_None))
    return Nesting::kLeaf;
  Object which =
      Object::steal(PyObject_CallOneArg(rules().classify.get(), reinterpret_cast<PyObject*>(type)));
  return static_cast<Nesting>(PyLong_AsLong(which.get()));
}

std::vector<Object> children_of(PyObject* structure) {
  std::vector<Object> out;
  switch (nesting(Py_TYPE(structure))) {
    case Nesting::kMapping: {
      Object keys = sorted_keys(structure);
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys.get()); ++i)
        out.push_back(item_of(structure, PyList_GET_ITEM(keys.get(), i)));
      break;
    }
    case Nesting::kFields: {
      Object fields = Object::steal(PySequence_Tuple(fields_of(Py_TYPE(structure)).get()));
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields.get()); ++i) {
        Object name =
            Object::steal(PyObject_GetAttrString(PyTuple_GET_ITEM(fields.get(), i), "name"));
        out.push_back(Object::steal(PyObject_GetAttr(structure, name.get())));
      }
      break;
    }
    case Nesting::kCustom:
    case Nesting::kComposite:
      append_items(
          Object::steal(PySequence_Tuple(PyTuple_GET_ITEM(custom_parts(structure).get(), 1))).get(),
          out);
      break;
    default: append_items(structure, out);
  }
  return out;
}

Object rebuilt(PyObject* structure, std::vector<Object> children) {
  PyTypeObject* type = Py_TYPE(structure);
  auto* kind = reinterpret_cast<PyObject*>(type);
  if (type == &PyList_Type) return list_of(children);
  if (type == &PyTuple_Type) return Object::steal(PyList_AsTuple(list_of(children).get()));
  switch (nesting(type)) {
    case Nesting::kMapping: return rebuilt_mapping(structure, children);
    case Nesting::kFields: return called_with_each(kind, children);
    case Nesting::kCustom:
    case Nesting::kComposite: {
      Object metadata = Object::share(PyTuple_GET_ITEM(custom_parts(structure).get(), 0));
      Object parts = Object::steal(PyList_AsTuple(list_of(children).get()));
      return Object::steal(
          PyObject_CallMethod(kind, "__tf_unflatten__", "OO", metadata.get(), parts.get()));
    }
    default: break;
  }
  if (PyTuple_Check(structure) && PyObject_HasAttrString(kind, "_fields"))
    return called_with_each(kind, children);
  int is_view = PyObject_IsInstance(structure, rules().views.get());
  if (is_view < 0) throw PythonError{};
  Object list = list_of(children);
  return is_view ? list : Object::steal(PyObject_CallOneArg(kind, list.get()));
}

void flatten(PyObject* structure, std::vector<Object>& out, bool whole) {
  if (is_leaf(structure, whole)) {
    out.push_back(Object::share(structure));
    return;
  }
  Deeper deeper(kWalking);
  for (const Object& child : children_of(structure)) flatten(child.get(), out, whole);
}

namespace {

// nest_flatten(structure, whole)
PyObject* nest_flatten(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* structure;
    int whole;
    if (!PyArg_ParseTuple(args, "Op", &structure, &whole)) throw PythonError{};
    std::vector<Object> out;
    flatten(structure, out, whole != 0);
    return list_of(out).release();
  });
}

PyObject* nest_children(PyObject*, PyObject* structure) {
  return guarded([&] {
    std::vector<Object> out = children_of(structure);
    return list_of(out).release();
  });
}

// nest_rebuild(structure, children)
PyObject* nest_rebuild(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *structure, *children;
    if (!PyArg_ParseTuple(args, "OO!", &structure, &PyList_Type, &children)) throw PythonError{};
    std::vector<Object> parts;
    append_items(children, parts);
    return rebuilt(structure, std::move(parts)).release();
  });
}

// nest_pack(structure, leaves, whole): as many leaves as the structure has.
PyObject* nest_pack(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *structure, *flat;
    int whole;
    if (!PyArg_ParseTuple(args, "OO!p", &structure, &PyList_Type, &flat, &whole))
      throw PythonError{};
    std::vector<Object> leaves;
    append_items(flat, leaves);
    size_t at = 0;
    return packed(structure, leaves, at, whole != 0).release();
  });
}

// set_nesting_rules(classify, views, defaultdict)
PyObject* set_rules(PyObject*, PyObject* args) {
  PyObject *classify, *views, *factory;
  if (!PyArg_ParseTuple(args, "OOO", &classify, &views, &factory)) return nullptr;
  rules() = {Object::share(classify), Object::share(views), Object::share(factory)};
  Py_RETURN_NONE;
}

PyMethodDef module_methods[] = {
    {"nest_flatten", nest_flatten, METH_VARARGS, "The leaves of a structure, in order."},
    {"nest_children", nest_children, METH_O, "What a structure holds, in order."},
    {"nest_rebuild", nest_rebuild, METH_VARARGS, "A structure of the same type, other children."},
    {"nest_pack", nest_pack, METH_VARARGS, "A structure of the same nesting, other leaves."},
    {"set_nesting_rules", set_rules, METH_VARARGS, "How classes of other modules take part."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_structure(PyObject* module) {
  if (PyModule_AddFunctions(module, module_methods) < 0) throw PythonError{};
}

}  // namespace holdfast::py
