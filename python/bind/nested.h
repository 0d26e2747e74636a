// Nested tensors of C++ as Python's lists, tuples and dicts.
#pragma once

#include "holdfast/exec/nested.h"
#include "python/bind/py.h"

namespace holdfast::py {

/// A structure of what can be tensors. A list of numbers is one tensor. `what` names it.
Nested nested_from(PyObject* value, const std::string& what);
Object python_from(const Nested& value);

}  // namespace holdfast::py
