// Who waits for one of our locks does not keep the GIL meanwhile: the lock's holder may need it.
#include "holdfast/base/patient_lock.h"
#include "python/bind/call.h"

namespace holdfast::py {

void init_patience() {
  set_patience({
      [] {
        return Py_IsInitialized() && PyGILState_Check() ? static_cast<void*>(PyEval_SaveThread())
                                                        : nullptr;
      },
      [](void* state) {
        wait_for_gil([](void* s) { PyEval_RestoreThread(static_cast<PyThreadState*>(s)); }, state);
      },
  });
}

}  // namespace holdfast::py
