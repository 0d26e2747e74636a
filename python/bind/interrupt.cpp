// Ctrl-C while a graph or a large product runs: Python's signal handlers get their turn between two
// parts.
#include "holdfast/base/interrupt.h"

#include <cxxabi.h>
#include <unistd.h>

#include <exception>

#include "python/bind/call.h"
#include "python/bind/object.h"

namespace holdfast::py {
namespace {

void check_signals() {
  if (!PyGILState_GetThisThreadState())
    return;  // a thread that Python does not know has no handlers to run
  PyGILState_STATE gil;
  wait_for_gil([](void* state) { *static_cast<PyGILState_STATE*>(state) = PyGILState_Ensure(); },
               &gil);
  int raised = PyErr_CheckSignals();
  PyGILState_Release(gil);
  if (raised) throw PythonError{};
}

}  // namespace

bool ended() {
#if PY_VERSION_HEX >= 0x030D0000
  return !Py_IsInitialized() || (Py_IsFinalizing() && !has_gil());
#else
  return !Py_IsInitialized() || (_Py_IsFinalizing() && !has_gil());
#endif
}

void stay_to_the_end() noexcept {
  for (;;) pause();
}

// What unwinds a thread is no object: the reference to it is null, which a sanitizer takes for a
// mistake.
__attribute__((no_sanitize("null"))) void wait_for_gil(void (*take)(void*),
                                                       void* argument) noexcept {
  try {
    take(argument);
  } catch (abi::__forced_unwind&) {
    stay_to_the_end();
  }
}

// Python may run behind every last reference, and with it a thread may end (see `stay_to_the_end`).
// Then what it held belongs to nobody.
void Object::end(PyObject* last) {
  if (!ended()) Py_DECREF(last);
}

void init_interrupt() {
  set_interrupt(&check_signals);
  // A thread that ends may be in the middle of anything that calls Python: in a destructor, in a
  // function of nanobind's, which catches everything; there what unwinds comes as nothing.
  nanobind::register_exception_translator([](const std::exception_ptr& e, void*) {
    if (!e) stay_to_the_end();
    std::rethrow_exception(e);
  });
  static const std::terminate_handler before = std::set_terminate(+[] {
    if (ended()) stay_to_the_end();
    before();
  });
}

}  // namespace holdfast::py
