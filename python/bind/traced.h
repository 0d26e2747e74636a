// The callable behind `tf.function`.
#pragma once

#include "holdfast/exec/concrete.h"
#include "python/bind/py.h"

namespace holdfast::py {

void init_traced(PyObject* module);
/// The function behind a Python `_holdfast.ConcreteFunction`.
Ref<ConcreteFunction> concrete_of(PyObject* o);

}  // namespace holdfast::py
