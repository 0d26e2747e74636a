// Splitting work over the team of threads. Work is cut by size alone, so results do not depend on
// how many threads there are.
#pragma once

#include <cstdint>
#include <type_traits>

#include "holdfast/base/api.h"

namespace holdfast {

/// How many threads kernels may use; 0 asks for all cores.
HOLDFAST_API void set_num_threads(int n);
HOLDFAST_API int num_threads();

/// Whether library matrix products and convolutions, too, give the same bits for any number of
/// threads. Our own loops always do.
HOLDFAST_API void set_deterministic(bool on);
HOLDFAST_API bool deterministic();

/// The team of threads, lent to a library that opens OpenMP regions of its own. While it lives,
/// this thread's regions get `threads()` threads: at most `most`, and one where somebody else has
/// the team, inside a parallel_for, and in a forked child.
class HOLDFAST_API Team {
 public:
  explicit Team(int most);
  ~Team();
  Team(const Team&) = delete;
  int threads() const { return threads_; }

 private:
  int threads_ = 1, was_ = 0;
  bool inside_ = false;
};

/// Calls `fn(env, begin, end)` for the pieces of [0, n) that are `grain` long (the last one
/// shorter).
HOLDFAST_API void parallel_pieces(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t),
                                  void* env);

template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f) {
  if (n <= grain) {
    if (n > 0) f(int64_t{0}, n);
    return;
  }
  using Fn = std::remove_reference_t<F>;
  parallel_pieces(
      n, grain, [](void* env, int64_t b, int64_t e) { (*static_cast<Fn*>(env))(b, e); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace holdfast
