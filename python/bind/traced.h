// The callables behind `tf.function`: a function with its traces, and one trace alone.
#pragma once

#include "python/bind/graph.h"
#include "python/bind/nb.h"

namespace holdfast::py {

void init_traced(PyObject* module);
void init_concrete_call(PyObject* module);

/// The function behind a Python `_holdfast.ConcreteFunction`.
const Concrete& concrete_of(PyObject* o);

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
