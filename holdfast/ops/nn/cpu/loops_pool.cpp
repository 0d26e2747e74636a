#include "holdfast/ops/nn/cpu/pool_loops.h"

namespace holdfast::nn::HOLDFAST_ISA {
namespace {

template <class T>
inline __attribute__((always_inline)) bool beats(T x, T best) {
  using W = float_of<T>;
  W a = static_cast<W>(x), b = static_cast<W>(best);
  return (a > b) | (b != b);
}

template <class T>
void most(const T* x, T* best, int64_t n) {
#pragma GCC ivdep
  for (int64_t c = 0; c < n; ++c) best[c] = beats(x[c], best[c]) ? x[c] : best[c];
}

template <class T>
void most_at(const T* x, int32_t tap, T* best, int32_t* at, int64_t n) {
#pragma GCC ivdep
  for (int64_t c = 0; c < n; ++c) {
    bool wins = beats(x[c], best[c]);
    at[c] = wins ? tap : at[c];
    best[c] = wins ? x[c] : best[c];
  }
}

template <class T>
void add_where(const T* x, const int32_t* at, int32_t tap, float_of<T>* sum, int64_t n) {
  using W = float_of<T>;
#pragma GCC ivdep
  for (int64_t c = 0; c < n; ++c) {
    W more = at[c] == tap ? static_cast<W>(x[c]) : W(0);
    if constexpr (std::is_integral_v<W>)
      sum[c] = static_cast<W>(static_cast<uint64_t>(sum[c]) + static_cast<uint64_t>(more));
    else
      sum[c] += more;
  }
}

// Eight lanes at whatever alignment, said outright: the compiler makes branches of four
// comparisons.
constexpr int64_t kLanes = 8;
typedef float Lanes
    __attribute__((vector_size(kLanes * sizeof(float)), aligned(alignof(float)), may_alias));
typedef int32_t Where __attribute__((vector_size(kLanes * sizeof(int32_t))));

inline __attribute__((always_inline)) Lanes lanes(const float* p) {
  return *reinterpret_cast<const Lanes*>(p);
}
inline __attribute__((always_inline)) Where beats(Lanes x, Lanes best) {
  return (x > best) | (best != best);
}

void most_of_four(const float* const* x, float* best, int64_t n) {
  const float *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
  int64_t c = 0;
  for (; c + kLanes <= n; c += kLanes) {
    Lanes found = lanes(x0 + c);
    for (const float* from : {x1, x2, x3}) {
      Lanes other = lanes(from + c);
      found = beats(other, found) ? other : found;
    }
    *reinterpret_cast<Lanes*>(best + c) = found;
  }
  for (; c < n; ++c) {
    float found = x0[c];
    for (const float* from : {x1, x2, x3}) found = beats(from[c], found) ? from[c] : found;
    best[c] = found;
  }
}

void spread_over_four(const float* const* x, const float* up, float* const* to, int64_t n) {
  int64_t c = 0;
  // What arrives is added to 0, as sums have it, which are never -0.
  for (; c + kLanes <= n; c += kLanes) {
    Lanes best = lanes(x[0] + c), more = Lanes{} + lanes(up + c);
    Where at{};
#pragma GCC unroll 3
    for (int32_t k = 1; k < 4; ++k) {
      Lanes other = lanes(x[k] + c);
      Where wins = beats(other, best);
      best = wins ? other : best;
      at = wins ? Where{} + k : at;
    }
#pragma GCC unroll 4
    for (int32_t k = 0; k < 4; ++k) *reinterpret_cast<Lanes*>(to[k] + c) = at == k ? more : Lanes{};
  }
  for (; c < n; ++c) {
    float best = x[0][c], more = 0.f + up[c];
    int32_t at = 0;
    for (int32_t k = 1; k < 4; ++k)
      if (beats(x[k][c], best)) best = x[k][c], at = k;
    for (int32_t k = 0; k < 4; ++k) to[k][c] = at == k ? more : 0.f;
  }
}

template <class T>
void add(const T* x, float_of<T> scale, float_of<T>* sum, int64_t n) {
#pragma GCC ivdep
  for (int64_t c = 0; c < n; ++c)
    sum[c] += static_cast<float_of<T>>(static_cast<float_of<T>>(x[c]) * scale);
}

}  // namespace

template <class T>
void fill_loops(PoolLoops<T>& t) {
  t.most = &most<T>;
  t.most_at = &most_at<T>;
  t.add_where = &add_where<T>;
  t.add = &add<T>;
  if constexpr (std::is_same_v<T, float>) {
    t.most_of_four = &most_of_four;
    t.spread_over_four = &spread_over_four;
  }
}
#define HOLDFAST_FILL(T) template void fill_loops(PoolLoops<T>&);
HOLDFAST_FILL(half)
HOLDFAST_FILL(bfloat)
HOLDFAST_FILL(float)
HOLDFAST_FILL(double)
HOLDFAST_FILL(int8_t)
HOLDFAST_FILL(int16_t)
HOLDFAST_FILL(int32_t)
HOLDFAST_FILL(int64_t)
HOLDFAST_FILL(uint8_t) HOLDFAST_FILL(uint16_t) HOLDFAST_FILL(uint32_t) HOLDFAST_FILL(uint64_t)
#undef HOLDFAST_FILL

}  // namespace holdfast::nn::HOLDFAST_ISA
