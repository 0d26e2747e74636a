// Traced functions as methods: what an instance already has is found without Python.
#pragma once

#include "python/bind/py.h"

namespace holdfast::py {

/// The traced function of one instance, which holds it itself; empty where Python has to make it.
Object method_of(PyObject* function, PyObject* instance);

void init_methods(PyObject* module);

}  // namespace holdfast::py
