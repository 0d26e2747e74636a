// How a row becomes one element inside a kernel: the device's twin of expr/cpu/make_folds.h, for
// real numbers. NVRTC compiles it, so it includes nothing but ours.
#pragma once

#include "holdfast/cuda/scalar_device.h"

namespace holdfast::scalar {

// What a fold of T adds up in. Integers wrap in 64 bits, and a result is cut to its size.
template <class T>
struct CellOf {
  using Sum = T;
  using Extreme = T;
};
template <Integer T>
struct CellOf<T> {
  using Sum = unsigned long long;
  using Extreme = long long;
};
template <>
struct CellOf<unsigned long long> {
  using Sum = unsigned long long;
  using Extreme = unsigned long long;
};

template <class T>
HF_FN T most_negative() {
  if constexpr (!Integer<T>)
    return T(-infinity());
  else if constexpr (is_signed<T>)
    return T(1ull << 63);
  else
    return T(0);
}
template <class T>
HF_FN T most_positive() {
  if constexpr (!Integer<T>)
    return T(infinity());
  else if constexpr (is_signed<T>)
    return T(~(1ull << 63));
  else
    return ~T(0);
}

template <class T>
struct FoldSum {
  using Cell = typename CellOf<T>::Sum;
  static HF_FN Cell nothing() { return Cell(0); }
  static HF_FN Cell taken(T x) { return Cell(x); }
  static HF_FN Cell join(Cell a, Cell b) { return a + b; }
  static HF_FN T result(Cell c, int) { return T(c); }
};
template <class T>
struct FoldMean : FoldSum<T> {
  using typename FoldSum<T>::Cell;
  static HF_FN T result(Cell c, int n) {
    if constexpr (!Integer<T>)
      return c / T(n);
    else if constexpr (is_signed<T>)
      return T((long long)(c) / n);
    else
      return T(c / (unsigned long long)(n));
  }
};
template <class T>
struct FoldProd : FoldSum<T> {
  using typename FoldSum<T>::Cell;
  static HF_FN Cell nothing() { return Cell(1); }
  static HF_FN Cell join(Cell a, Cell b) { return a * b; }
};
template <class T>
struct FoldMax {
  using Cell = typename CellOf<T>::Extreme;
  static HF_FN Cell nothing() { return most_negative<Cell>(); }
  static HF_FN Cell taken(T x) { return Cell(x); }
  static HF_FN Cell join(Cell a, Cell b) { return nan_max(a, b); }
  static HF_FN T result(Cell c, int) { return T(c); }
};
template <class T>
struct FoldMin : FoldMax<T> {
  using typename FoldMax<T>::Cell;
  static HF_FN Cell nothing() { return most_positive<Cell>(); }
  static HF_FN Cell join(Cell a, Cell b) { return nan_min(a, b); }
};
template <class T>
struct FoldSquares : FoldSum<T> {
  using typename FoldSum<T>::Cell;
  static HF_FN Cell taken(T x) { return Cell(x) * Cell(x); }
  static HF_FN T result(Cell c, int) {
    if constexpr (!Integer<T>)
      return sqrt(c);
    else if constexpr (is_signed<T>)  // the sum has wrapped in T's size
      return T(sqrt(double(c & (~0ull >> (64 - 8 * sizeof(T))))));
    else
      return T(sqrt(double(T(c))));
  }
};
template <class T>
struct FoldHalfSquares : FoldSquares<T> {
  using typename FoldSquares<T>::Cell;
  static HF_FN T result(Cell c, int) { return T(c / Cell(2)); }
};

// The cells of `Team` neighbouring threads joined, in every one of them, always in the same order.
// A team is a power of two, and all threads of a block of `Block` come here together; `parts` is
// used once.
template <class F, int Team, int Block>
__device__ __forceinline__ typename F::Cell join_team(typename F::Cell c, typename F::Cell* parts) {
  constexpr int kLanes = Team < 32 ? Team : 32, kWarps = Team / 32;
#pragma unroll
  for (int d = kLanes / 2; d > 0; d /= 2) c = F::join(c, __shfl_xor_sync(0xffffffffu, c, d));
  if constexpr (kWarps > 1) {
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = c;
    __syncthreads();
    const auto* own = parts + threadIdx.x / Team * kWarps;
    c = own[0];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) c = F::join(c, own[w]);
  }
  return c;
}

}  // namespace holdfast::scalar
