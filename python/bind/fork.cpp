// Forks wait until the threads that compute are out of their critical sections.
#include <pthread.h>

#include <chrono>
#include <new>
#include <shared_mutex>

#include "python/bind/call.h"

namespace holdfast::py {
namespace {

thread_local int t_inside = 0;  // how often this thread entered

struct Gate {
  std::shared_timed_mutex inside;
  bool closed = false;  // by the thread that forks

  Gate() {
    pthread_atfork([] { gate().close(); }, [] { gate().open(); }, [] { gate().begin_again(); });
  }
  static Gate& gate() {
    static Gate* g = new Gate;  // threads may run to the very end
    return *g;
  }
  // The thread that forks holds the GIL, so nobody enters while it waits. One that runs for long,
  // or that waits for the GIL itself, is not waited for: the child is then as safe as a child of
  // threads ever is.
  void close() { closed = t_inside == 0 && inside.try_lock_for(std::chrono::seconds(1)); }
  void open() {
    if (closed) inside.unlock();
    closed = false;
  }
  // The child's only thread has another number than the one that closed, and can't open what that
  // one closed.
  void begin_again() {
    new (&inside) std::shared_timed_mutex;
    for (int i = 0; i < t_inside; ++i) inside.lock_shared();
    closed = false;
  }
};

}  // namespace

void enter_fork_gate() {
  Gate::gate().inside.lock_shared();
  ++t_inside;
}

void leave_fork_gate() {
  --t_inside;
  Gate::gate().inside.unlock_shared();
}

}  // namespace holdfast::py
