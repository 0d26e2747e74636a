// Locks whose holder may have to wait for a language's own lock.
#pragma once

#include "holdfast/base/api.h"

namespace holdfast {

/// What a thread lets go of while it waits for a lock, and takes back afterwards: an interpreter's
/// lock. `let_go` gives null where the thread holds none. Set once, by the language's binding;
/// without one a thread simply waits.
struct Patience {
  void* (*let_go)() = nullptr;
  void (*take_back)(void*) = nullptr;
};
HOLDFAST_API void set_patience(Patience);

/// Lets go while it lives.
class HOLDFAST_API Waiting {
 public:
  Waiting();
  ~Waiting();
  Waiting(const Waiting&) = delete;

 private:
  void* held_;
};

/// A lock for what may run a user's code while it is held: one who waits for it keeps nothing that
/// this code needs, so two threads never wait for each other.
template <class M>
class PatientLock {
 public:
  explicit PatientLock(M& mutex) : mutex_(mutex) {
    if (mutex_.try_lock()) return;
    Waiting patiently;
    mutex_.lock();
  }
  ~PatientLock() { mutex_.unlock(); }
  PatientLock(const PatientLock&) = delete;

 private:
  M& mutex_;
};

}  // namespace holdfast
