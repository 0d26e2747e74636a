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
