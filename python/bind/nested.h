// Python's structures of tensors as C++ holds them, and back.
#pragma once

#include "holdfast/exec/nested.h"
#include "python/bind/py.h"

namespace holdfast::py {

/// Tuples, lists and dicts of what becomes a tensor; named tuples are tuples. `lists`: whether a
/// list is a structure, and not the rows of one tensor. `what` names the whole in a message.
Nested nested_of(PyObject* structure, bool lists, const char* what);
/// A structure of what can be tensors, where a list of numbers is one tensor, and any other list a
/// structure. `what` names it.
Nested nested_from(PyObject* value, const std::string& what);
/// Tuples, lists, dicts, None and tensors.
Object structure_of(const Nested& n);
inline Object python_from(const Nested& n) { return structure_of(n); }
/// The same with what `leaf` gives for each tensor.
template <class Leaf>
Object structure_of(const Nested& n, const Leaf& leaf);

template <class Leaf>
Object structure_of(const Nested& n, const Leaf& leaf) {
  using Kind = Nested::Kind;
  auto size = static_cast<Py_ssize_t>(n.size());
  switch (n.kind()) {
    case Kind::kNone: return Object::share(Py_None);
    case Kind::kTensor: return leaf(n.tensor());
    case Kind::kTuple: {
      Object out = Object::steal(PyTuple_New(size));
      for (Py_ssize_t i = 0; i < size; ++i)
        PyTuple_SET_ITEM(out.get(), i, structure_of(n[static_cast<size_t>(i)], leaf).release());
      return out;
    }
    case Kind::kList: {
      Object out = Object::steal(PyList_New(size));
      for (Py_ssize_t i = 0; i < size; ++i)
        PyList_SET_ITEM(out.get(), i, structure_of(n[static_cast<size_t>(i)], leaf).release());
      return out;
    }
    case Kind::kDict: {
      Object out = Object::steal(PyDict_New());
      for (size_t i = 0; i < n.size(); ++i) {
        Object key = text_object(n.key(i)), value = structure_of(n[i], leaf);
        if (PyDict_SetItem(out.get(), key.get(), value.get()) < 0) throw PythonError{};
      }
      return out;
    }
  }
  return Object::share(Py_None);
}

}  // namespace holdfast::py
