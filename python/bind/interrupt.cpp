// Ctrl-C while a graph or a large product runs: Python's signal handlers get their turn between two
// parts.
#include "holdfast/base/interrupt.h"

#include <cxxabi.h>
#include <unistd.h>

#include "python/bind/call.h"

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

// The exception that ends a thread is no object, so the reference to it is null, which a sanitizer
// takes for a mistake.
__attribute__((no_sanitize("null"))) void wait_for_gil(void (*take)(void*),
                                                       void* argument) noexcept {
  try {
    take(argument);
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

void init_interrupt() { set_interrupt(&check_signals); }

}  // namespace holdfast::py
