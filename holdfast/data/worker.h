// A thread of a pipeline's own. It ends when it is dropped, when the process ends, and never
// before it is out of whatever it runs.
#pragma once

#include "holdfast/base/callback.h"

namespace holdfast::data {

/// The thread's side, which lives as long as it runs.
class WorkerThread;

class Worker {
 public:
  /// Runs `work` on a thread of its own; `wake` tells it to look whether it is to stop.
  Worker(Callback<void()> work, Callback<void()> wake);
  /// Stops it, and waits for its end: a second at most, and not if this is the thread itself.
  /// Others may run meanwhile, also those that need a lock of this thread's language.
  ~Worker();
  Worker(const Worker&) = delete;
  /// Tells it to stop, and does not wait.
  void tell();
  /// Whether this is a copy in a forked process, where there is no such thread.
  bool elsewhere() const;

  /// Whether the calling thread is a worker, and is to stop.
  static bool stopping();
  static bool is_one();

 private:
  Ref<WorkerThread> thread_;
};

/// Ends all workers of this process, and waits a while until each is gone, whoever owns it: before
/// a language goes, and at the end of the process. There are no new ones from then on.
HOLDFAST_API void stop_workers();
/// Whether that has been done.
HOLDFAST_API bool workers_stopped();

}  // namespace holdfast::data
