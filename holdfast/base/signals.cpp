#include "holdfast/base/signals.h"

#include <pthread.h>

#include <initializer_list>

namespace holdfast {
namespace {

// All but those that a thread's own instruction causes: they can't wait.
const sigset_t& from_outside() {
  static const sigset_t set = [] {
    sigset_t s;
    sigfillset(&s);
    for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&s, own);
    return s;
  }();
  return set;
}

}  // namespace

SignalsWait::SignalsWait() { pthread_sigmask(SIG_BLOCK, &from_outside(), &was_); }

SignalsWait::~SignalsWait() { pthread_sigmask(SIG_SETMASK, &was_, nullptr); }

void take_no_signals() {
  thread_local const int blocked = pthread_sigmask(SIG_BLOCK, &from_outside(), nullptr);
  (void)blocked;
}

}  // namespace holdfast
