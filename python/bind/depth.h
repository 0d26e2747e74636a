// How deep values may lie in each other.
#pragma once

#include "python/bind/py.h"

namespace holdfast::py {

/// One level further down: what holds itself ends in a RecursionError, not at the end of the stack.
class Deeper {
 public:
  explicit Deeper(const char* doing) {
    if (Py_EnterRecursiveCall(doing)) throw PythonError{};
  }
  ~Deeper() { Py_LeaveRecursiveCall(); }
  Deeper(const Deeper&) = delete;
};

}  // namespace holdfast::py
