// How deep values may lie in each other.
#pragma once

#include "python/bind/py.h"

namespace holdfast::py {

/// One level further down: what holds itself ends in a RecursionError, not at the end of the stack.
/// Python counts too, but some versions let C code go ten thousand levels down, whatever a level of
/// it takes.
class Deeper {
 public:
  explicit Deeper(const char* doing) {
    if (depth_ == kDeepest) {
      PyErr_Format(PyExc_RecursionError, "maximum recursion depth exceeded%s", doing);
      throw PythonError{};
    }
    if (Py_EnterRecursiveCall(doing)) throw PythonError{};
    ++depth_;
  }
  ~Deeper() {
    --depth_;
    Py_LeaveRecursiveCall();
  }
  Deeper(const Deeper&) = delete;

 private:
  static constexpr int kDeepest = 1000;
  static inline thread_local int depth_ = 0;
};

}  // namespace holdfast::py
