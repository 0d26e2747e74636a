// What the files that bind graphs share.
#pragma once

#include "holdfast/exec/concrete.h"
#include "holdfast/graph/trace.h"
#include "python/bind/py.h"

namespace holdfast::py {

/// A traced function, as Python holds it.
struct Concrete {
  Ref<ConcreteFunction> function;
  Object code;  // keeps the Python code alive that the graph calls; empty where there is none
};

/// A function that was traced, for Python: it gets the Python code lent that its graph calls.
Concrete lent(Ref<ConcreteFunction> function);
/// The tracer of a Python `_holdfast.Writer`.
Tracer& tracer_of(PyObject* writer);

}  // namespace holdfast::py
