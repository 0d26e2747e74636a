// Ctrl-C while a graph runs: Python's signal handlers get their turn between two steps.
#include "holdfast/exec/plan.h"
#include "python/bind/py.h"

namespace holdfast::py {
namespace {

void check_signals() {
  // A thread that Python does not know has no handlers to run; while the interpreter ends, none may be asked for.
  if (!PyGILState_GetThisThreadState() || _Py_IsFinalizing()) return;
  PyGILState_STATE gil = PyGILState_Ensure();
  int raised = PyErr_CheckSignals();
  PyGILState_Release(gil);
  if (raised) throw PythonError{};
}

}  // namespace

void init_interrupt() { set_interrupt(&check_signals); }

}  // namespace holdfast::py
