// The inner loops of pools, over channels, compiled once per instruction set.
#pragma once

#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::nn {

template <class T>
struct PoolLoops {
  using W = float_of<T>;
  /// best[c] = the larger of best[c] and x[c]; a number beats NaN.
  void (*most)(const T* x, T* best, int64_t n);
  /// Likewise, and at[c] = tap where x[c] won. Ties stay with the earlier tap.
  void (*most_at)(const T* x, int32_t tap, T* best, int32_t* at, int64_t n);
  /// sum[c] += x[c] where at[c] is `tap`. Integers wrap around.
  void (*add_where)(const T* x, const int32_t* at, int32_t tap, W* sum, int64_t n);
  /// Windows of four cells at once, which many pools have; null where there is no such loop. The
  /// first one gives best[c] = the largest, the second one puts up[c] where it came from and 0 into
  /// the other three: `to` may be `x`.
  void (*most_of_four)(const T* const* x, T* best, int64_t n) = nullptr;
  void (*spread_over_four)(const T* const* x, const T* up, T* const* to, int64_t n) = nullptr;
  /// sum[c] += x[c] * scale.
  void (*add)(const T* x, W scale, W* sum, int64_t n);
};

#define HOLDFAST_DECLARE(isa)     \
  namespace isa {                 \
  template <class T>              \
  void fill_loops(PoolLoops<T>&); \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE)
#undef HOLDFAST_DECLARE

/// Calls `f(T{})` for every dtype that pools take.
template <class F>
void visit_reals(DType d, F&& f) {
  visit_plain(d, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool> && !is_complex_v<T>) f(T{});
  });
}

/// Those of this machine's best instruction set.
template <class T>
const PoolLoops<T>& pool_loops();

}  // namespace holdfast::nn
