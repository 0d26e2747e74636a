// Code that no signal handler may interrupt.
#pragma once

#include <csignal>

#include "holdfast/base/api.h"

namespace holdfast {

/// While it lives, signals that come from outside wait: this thread handles none, nor do threads
/// that it makes. oneDNN's matrix products need that: they use the stack pointer for memory of the
/// heap, and a handler that runs meanwhile writes over what lies before it.
class HOLDFAST_API SignalsWait {
 public:
  SignalsWait();
  ~SignalsWait();
  SignalsWait(const SignalsWait&) = delete;

 private:
  sigset_t was_;
};

/// The calling thread, one of our own, handles no signals from outside from now on: others do that.
HOLDFAST_API void take_no_signals();

}  // namespace holdfast
