// What stages with threads of their own share.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "holdfast/base/patient_lock.h"
#include "holdfast/data/dataset.h"

namespace holdfast::data {

/// Throws: the threads have ended, since the process does.
[[noreturn]] void refuse_at_the_end();

/// Waits until `ready` holds. Others get the language's lock meanwhile, and Ctrl-C its turn.
template <class Ready>
void wait_patiently(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                    Ready ready) {
  if (ready()) return;
  lock.unlock();
  {
    Waiting patiently;
    for (bool done = false; !done;) {
      lock.lock();
      done = changed.wait_for(lock, std::chrono::milliseconds(50), ready);
      lock.unlock();
      if (!done) check_stop();
    }
  }
  lock.lock();
}

/// Keeps the threads of a stage out of its input, while somebody looks at that. `Shared` is what
/// they share: a `mutex`, which is held meanwhile, `changed`, `hold(bool)`, and `idle()`: whether
/// none is in there; `stop` says that they have left for good, and that is refused.
template <class Shared>
class Pause {
 public:
  explicit Pause(Shared& of) : of_(of), lock_(of.mutex) {
    of_.hold(true);
    try {
      wait_patiently(lock_, of_.changed, [&] { return of_.idle(); });
      if (of_.stop) refuse_at_the_end();
    } catch (...) {
      end();
      throw;
    }
  }
  ~Pause() { end(); }
  Pause(const Pause&) = delete;

 private:
  void end() {
    if (!lock_.owns_lock()) lock_.lock();
    of_.hold(false);
    of_.changed.notify_all();
  }
  Shared& of_;
  std::unique_lock<std::mutex> lock_;
};

/// How many threads `num_parallel_calls` asks a stage for; 0: none of its own.
int64_t threads_for(int64_t num_parallel_calls, const char* stage);
/// `map` on threads of its own.
Dataset parallel_map(const Dataset& input, Ref<ElementFunction> f, const ElementSpec& gives,
                     const ParallelOptions& o);
/// The elements of a cursor, of which a thread has up to `most` ready; kAutotune: what suits.
Owned<Cursor> run_ahead(Owned<Cursor> input, int64_t most, const ElementSpec& spec);

/// Throws: threads do not come along into a forked process.
[[noreturn]] void refuse_forked(const char* stage);

}  // namespace holdfast::data
