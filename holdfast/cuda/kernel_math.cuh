// What the hand-written kernels share: element types, and reductions inside a block.
#pragma once

#include "holdfast/cuda/element_types.h"
#include "holdfast/cuda/kernels.h"

namespace holdfast::cuda {

using scalar::bfloat;
using scalar::half;

// What arithmetic on T is done in.
template <class T>
struct AccumulatorOf {
  using type = T;
};
template <>
struct AccumulatorOf<half> {
  using type = float;
};
template <>
struct AccumulatorOf<bfloat> {
  using type = float;
};
template <>
struct AccumulatorOf<int> {
  using type = long long;
};
template <class T>
using Accumulator = typename AccumulatorOf<T>::type;

inline __device__ float exp_of(float x) { return expf(x); }
inline __device__ double exp_of(double x) { return exp(x); }
inline __device__ float log_of(float x) { return logf(x); }
inline __device__ double log_of(double x) { return log(x); }

// Calls f(T*) with a null pointer of the element's type.
template <class F>
auto visit(Element e, F&& f) {
  switch (e) {
    case Element::kFloat16: return f(static_cast<half*>(nullptr));
    case Element::kBFloat16: return f(static_cast<bfloat*>(nullptr));
    case Element::kFloat64: return f(static_cast<double*>(nullptr));
    case Element::kInt32: return f(static_cast<int*>(nullptr));
    case Element::kInt64: return f(static_cast<long long*>(nullptr));
    default: return f(static_cast<float*>(nullptr));
  }
}

// `v` of all threads of a block of 32 * Warps joined by R, in every thread. Always in the same
// order.
template <class R, int Warps, class A>
__device__ A join_block(A v) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) v = R::join(v, __shfl_xor_sync(0xffffffffu, v, d));
  if constexpr (Warps > 1) {
    __shared__ A parts[Warps];
    __syncthreads();  // the last call's parts have been read
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[0];
#pragma unroll
    for (int w = 1; w < Warps; ++w) v = R::join(v, parts[w]);
  }
  return v;
}

struct SumOf {
  template <class A>
  static __device__ A first() {
    return A(0);
  }
  template <class A>
  static __device__ A join(A a, A b) {
    return a + b;
  }
};
struct ProductOf {
  template <class A>
  static __device__ A first() {
    return A(1);
  }
  template <class A>
  static __device__ A join(A a, A b) {
    return a * b;
  }
};
template <class A>
__device__ A largest() {
  if constexpr (A(1) / A(2) == A(0))
    return A(0x7fffffffffffffffLL);
  else
    return A(__longlong_as_double(0x7ff0000000000000LL));
}
// A NaN wins.
struct MaximumOf {
  template <class A>
  static __device__ A first() {
    return A(1) / A(2) == A(0) ? A(-largest<A>() - A(1)) : -largest<A>();
  }
  template <class A>
  static __device__ A join(A a, A b) {
    return a != a ? a : a < b || b != b ? b : a;
  }
};
struct MinimumOf {
  template <class A>
  static __device__ A first() {
    return largest<A>();
  }
  template <class A>
  static __device__ A join(A a, A b) {
    return a != a ? a : b < a || b != b ? b : a;
  }
};

}  // namespace holdfast::cuda
