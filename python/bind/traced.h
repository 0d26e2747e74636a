// The callable behind `tf.function`.
#pragma once

#include "python/bind/graph.h"

namespace holdfast::py {

void init_traced(PyObject* module);
/// The function behind a Python `_holdfast.ConcreteFunction`.
const Concrete& concrete_of(PyObject* o);

}  // namespace holdfast::py
