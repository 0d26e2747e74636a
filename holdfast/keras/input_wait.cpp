#include "holdfast/keras/input_wait.h"

#include <chrono>

namespace holdfast::keras {

double& input_wait() {
  static thread_local double seconds = 0;
  return seconds;
}

bool next_batch(BatchSource& batches, Nested& batch) {
  using Clock = std::chrono::steady_clock;
  struct Counted {
    ~Counted() { input_wait() += std::chrono::duration<double>(Clock::now() - begin).count(); }
    const Clock::time_point begin = Clock::now();
  } counted;
  return batches.next(batch);
}

}  // namespace holdfast::keras
