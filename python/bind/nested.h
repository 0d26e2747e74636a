// Nested tensors of C++ as Python's lists, tuples and dicts.
#pragma once

#include "python/bind/elements.h"

namespace holdfast::py {

/// A structure of what can be tensors. A list of numbers is one tensor. `what` names it.
Nested nested_from(PyObject* value, const std::string& what);
inline Object python_from(const Nested& value) { return structure_of(value); }

}  // namespace holdfast::py
