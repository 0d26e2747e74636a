#include "python/bind/methods.h"

#include <structmember.h>

#include "python/bind/locations.h"

namespace holdfast::py {
namespace {

// The record that an instance has under `key`: a class of Python's with two slots.
struct Records {
  Object key, type;
  Py_ssize_t made = 0, owner = 0;  // offsets of its slots
};
Records& records() {
  static auto* r = new Records;  // Python objects must not be freed after the interpreter
  return *r;
}

PyObject* slot(PyObject* record, Py_ssize_t offset) {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(record) + offset);
}

Py_ssize_t offset_of(PyObject* type, const char* name) {
  Object descriptor = Object::steal(PyObject_GetAttrString(type, name));
  if (Py_TYPE(descriptor.get()) != &PyMemberDescr_Type)
    type_error("a record of methods needs slots");
  return reinterpret_cast<PyMemberDescrObject*>(descriptor.get())->d_member->offset;
}

// set_method_records(key, type)
PyObject* set_records(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *key, *type;
    if (!PyArg_ParseTuple(args, "UO!", &key, &PyType_Type, &type)) throw PythonError{};
    records() = {Object::share(key), Object::share(type), offset_of(type, "made"),
                 offset_of(type, "owner")};
    Py_RETURN_NONE;
  });
}

PyMethodDef module_methods[] = {
    {"set_method_records", set_records, METH_VARARGS, "Where instances keep their functions."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

Object method_of(PyObject* function, PyObject* instance) {
  PyObject* space = PyType_Check(instance) ? nullptr : space_of(instance);
  if (!space || !records().key) return {};
  PyObject* record = PyDict_GetItemWithError(space, records().key.get());
  if (!record || reinterpret_cast<PyObject*>(Py_TYPE(record)) != records().type.get()) {
    PyErr_Clear();
    return {};
  }
  // A shallow copy of an instance brings the record of the other along.
  PyObject *owner = slot(record, records().owner), *made = slot(record, records().made);
  if (!owner || !made || !PyLong_CheckExact(owner) || !PyDict_CheckExact(made)) return {};
  if (PyLong_AsVoidPtr(owner) != instance) {
    PyErr_Clear();
    return {};
  }
  PyObject* found = PyDict_GetItemWithError(made, function);
  if (!found) PyErr_Clear();
  return Object::share(found);
}

void init_methods(PyObject* module) {
  if (PyModule_AddFunctions(module, module_methods) < 0) throw PythonError{};
}

}  // namespace holdfast::py
