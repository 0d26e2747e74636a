// Elements of datasets, as Python has them: tuples and dicts of tensors. A list is a tensor.
#pragma once

#include "holdfast/exec/nested.h"
#include "python/bind/py.h"

namespace holdfast::py {

/// Tuples, also named ones, and dicts of what becomes a tensor, or is a dataset; a ragged or sparse
/// tensor is a tuple of its parts, as an object of a data class is of what it says by
/// `__tf_flatten__`. `what` names the whole in a message.
Nested element_of(PyObject* structure, const char* what);
/// Whether it is such a tuple.
bool has_parts(PyObject* o);
/// Tuples, lists, dicts and None, with what `leaf` gives for each tensor.
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

/// A tensor as Python has it; one that leads to a dataset is that dataset.
Object leaf_of(const Tensor& t);

/// The same with the tensors themselves.
inline Object structure_of(const Nested& n) { return structure_of(n, leaf_of); }

}  // namespace holdfast::py
