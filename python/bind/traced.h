// The callables behind `tf.function`: a function with its traces, and one trace alone.
#pragma once

#include <structmember.h>

#include "python/bind/graph.h"
#include "python/bind/nb.h"

namespace holdfast::py {

void init_traced(PyObject* module);
void init_concrete_call(PyObject* module);

/// The function behind a Python `_holdfast.ConcreteFunction`.
const Concrete& concrete_of(PyObject* o);

/// A Python object that is called by a vector, and what it holds.
template <class Held>
struct Called {
  PyObject_HEAD vectorcallfunc vectorcall;
  Held* held;

  static Held& of(PyObject* o) { return *reinterpret_cast<Called*>(o)->held; }
  /// Null where it is gone: for collectors.
  static Held* left(PyObject* o) { return reinterpret_cast<Called*>(o)->held; }

  template <vectorcallfunc call>
  static PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
    PyObject* self = type->tp_alloc(type, 0);
    if (!self) return nullptr;
    reinterpret_cast<Called*>(self)->vectorcall = call;
    reinterpret_cast<Called*>(self)->held = new Held;
    return self;
  }
  static int clear(PyObject* self) {
    if (left(self)) Held old = std::exchange(of(self), {});
    return 0;
  }
  static void dealloc(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    delete std::exchange(reinterpret_cast<Called*>(self)->held, nullptr);
    type->tp_free(self);
    Py_DECREF(type);
  }
  static PyMemberDef* members() {
    static PyMemberDef list[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(Called, vectorcall), READONLY, nullptr},
        {nullptr, 0, 0, 0, nullptr}};
    return list;
  }
};

/// Calls the Python method `_slow_call` with the arguments of a vectorcall.
PyObject* slow_call(PyObject* self, PyObject* const* args, size_t n, PyObject* kwnames);

/// Runs `f`; null where it gave none, with `failed` set and a Python error where it threw.
template <class F>
PyObject* attempted(F&& f, bool& failed) noexcept {
  PyObject* result = guarded([&]() -> PyObject* {
    try {
      PyObject* given = f();
      return given ? given : Py_NewRef(Py_NotImplemented);
    } catch (nanobind::python_error& error) {
      error.restore();
      return nullptr;
    }
  });
  failed = !result;
  if (result != Py_NotImplemented) return result;
  Py_DECREF(result);
  return nullptr;
}

}  // namespace holdfast::py
