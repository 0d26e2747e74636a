#include "python/bind/nested.h"

#include "holdfast/base/text.h"
#include "python/bind/structure.h"

namespace holdfast::py {
namespace {

std::string key_of(PyObject* key, const char* what) {
  if (!PyUnicode_Check(key))
    type_error(cat("a dict in ", what, " has the key ", repr_of(key), ", expected a text"));
  return PyUnicode_AsUTF8(key);
}

// Whether a list or tuple holds numbers alone, at any depth: then it is one tensor.
bool only_numbers(PyObject* o, bool& any) {
  if (PyList_Check(o) || PyTuple_Check(o)) {
    Object items = Object::steal(PySequence_Fast(o, ""));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
      if (!only_numbers(PySequence_Fast_GET_ITEM(items.get(), i), any)) return false;
    return true;
  }
  any = any || PyFloat_Check(o) || PyLong_Check(o);
  return PyFloat_Check(o) || PyLong_Check(o);
}

}  // namespace

Nested nested_from(PyObject* value, const std::string& what) {
  if (value == Py_None) return {};
  if (is_tensor(value)) return tensor_of(value);
  Nesting kind = nesting(Py_TYPE(value));
  if (kind == Nesting::kMapping) {
    std::vector<Nested::Entry> entries;
    Object items = Object::steal(PyMapping_Items(value));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
      PyObject* pair = PyList_GET_ITEM(items.get(), i);
      PyObject* key = PyTuple_GET_ITEM(pair, 0);
      if (!PyUnicode_Check(key))
        type_error(cat(what, " is a dict with the key ", repr_of(key), ", expected texts as keys"));
      std::string name = PyUnicode_AsUTF8(key);
      entries.emplace_back(name,
                           nested_from(PyTuple_GET_ITEM(pair, 1), cat(what, "[\"", name, "\"]")));
    }
    return Nested::dict(std::move(entries));
  }
  bool any = false;
  bool sequence = kind == Nesting::kSequence && !PyUnicode_Check(value);
  if (sequence && !(only_numbers(value, any) && any)) {
    std::vector<Nested> items;
    for (const Object& child : children_of(value))
      items.push_back(nested_from(child.get(), cat(what, "[", items.size(), "]")));
    return PyTuple_Check(value) ? Nested::tuple(std::move(items)) : Nested::list(std::move(items));
  }
  return convert(value, DType::kInvalid, false, what.c_str());
}

Nested nested_of(PyObject* o, bool lists, const char* what) {
  if (o == Py_None) return {};
  if (PyTuple_Check(o) || (lists && PyList_Check(o))) {
    std::vector<Nested> items;
    Object all = Object::steal(PySequence_Fast(o, what));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(all.get()); ++i)
      items.push_back(nested_of(PySequence_Fast_GET_ITEM(all.get(), i), lists, what));
    return PyTuple_Check(o) ? Nested::tuple(std::move(items)) : Nested::list(std::move(items));
  }
  if (PyDict_Check(o)) {
    std::vector<Nested::Entry> entries;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(o, &at, &key, &value);) {
      Object keep = Object::share(value);
      entries.emplace_back(key_of(key, what), nested_of(value, lists, what));
    }
    return Nested::dict(std::move(entries));
  }
  return convert(o, DType::kInvalid, false, what);
}

Object structure_of(const Nested& n) {
  return structure_of(n, [](const Tensor& t) { return Object::steal(wrap(t)); });
}

}  // namespace holdfast::py
