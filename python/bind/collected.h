// Python types that hold C++ things for Python's collector to see, and that only we make.
#pragma once

#include "python/bind/py.h"

namespace holdfast::py {

/// A type of that kind; `bytes` is the size of its objects.
inline PyTypeObject* collected_type(const char* name, size_t bytes, traverseproc traverse,
                                    inquiry clear, destructor dealloc) {
  PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {0, nullptr}};
  PyType_Spec spec{name, static_cast<int>(bytes), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots};
  return reinterpret_cast<PyTypeObject*>(Object::steal(PyType_FromSpec(&spec)).release());
}

/// The end of its `dealloc`: what it held is gone.
inline void free_collected(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}

}  // namespace holdfast::py
