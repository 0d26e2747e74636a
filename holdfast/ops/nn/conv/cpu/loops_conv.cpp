#include "holdfast/ops/nn/conv/cpu/conv_loops.h"

namespace holdfast::nn::HOLDFAST_ISA {
namespace {

// Sums that stay in registers while the inner loop runs.
constexpr int64_t kTile = 32;

template <class T>
void rows(const T* x, int64_t k, const T* w, int64_t step, sum_of<T>* sum, int64_t n) {
  using W = sum_of<T>;
  int64_t o = 0;
  for (; o + kTile <= n; o += kTile) {
    W tile[kTile];
    for (int64_t j = 0; j < kTile; ++j) tile[j] = sum[o + j];
    for (int64_t i = 0; i < k; ++i) {
      W v = static_cast<W>(x[i]);
      const T* from = w + i * step + o;
      for (int64_t j = 0; j < kTile; ++j) tile[j] += v * static_cast<W>(from[j]);
    }
    for (int64_t j = 0; j < kTile; ++j) sum[o + j] = tile[j];
  }
  for (int64_t i = 0; o < n && i < k; ++i) {
    W v = static_cast<W>(x[i]);
    const T* from = w + i * step;
    for (int64_t j = o; j < n; ++j) sum[j] += v * static_cast<W>(from[j]);
  }
}

template <class T>
void dots(const T* y, int64_t n, const T* w, int64_t step, sum_of<T>* sum, int64_t k) {
  using W = sum_of<T>;
  constexpr int64_t kLanes = 16;
  for (int64_t i = 0; i < k; ++i) {
    const T* row = w + i * step;
    W lanes[kLanes] = {};
    int64_t o = 0;
    for (; o + kLanes <= n; o += kLanes)
      for (int64_t j = 0; j < kLanes; ++j)
        lanes[j] += static_cast<W>(y[o + j]) * static_cast<W>(row[o + j]);
    W total(0);
    for (int64_t j = 0; j < kLanes; ++j) total += lanes[j];
    for (; o < n; ++o) total += static_cast<W>(y[o]) * static_cast<W>(row[o]);
    sum[i] += total;
  }
}

template <class T>
void outer(const T* x, int64_t k, const T* y, int64_t n, sum_of<T>* sum, int64_t step) {
  using W = sum_of<T>;
  for (int64_t i = 0; i < k; ++i) {
    W v = static_cast<W>(x[i]);
    W* to = sum + i * step;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) to[j] += v * static_cast<W>(y[j]);
  }
}

// Sixteen lanes at whatever alignment, said outright: left to itself the compiler shuffles rows
// into one another here.
typedef float Lanes
    __attribute__((vector_size(kColumns * sizeof(float)), aligned(alignof(float)), may_alias));

// `Rows` rows at once: as many chains of sums as hide the latency of an addition.
template <int Rows>
void columns_of(const float* y, int64_t n, const float* w, float* out) {
  Lanes sum[Rows] = {};
  for (int64_t o = 0; o < n; ++o) {
    Lanes row = *reinterpret_cast<const Lanes*>(w + o * kColumns);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) sum[r] += y[r * n + o] * row;
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) *reinterpret_cast<Lanes*>(out + r * kColumns) = sum[r];
}

void all_columns(const float* y, int64_t rows, int64_t n, const float* w, float* out) {
  int64_t r = 0;
  for (; r + 8 <= rows; r += 8) columns_of<8>(y + r * n, n, w, out + r * kColumns);
  for (; r < rows; ++r) columns_of<1>(y + r * n, n, w, out + r * kColumns);
}

}  // namespace

template <class T>
void fill_loops(ConvLoops<T>& t) {
  t.rows = &rows<T>;
  t.dots = &dots<T>;
  t.outer = &outer<T>;
}
template void fill_loops(ConvLoops<half>&);
template void fill_loops(ConvLoops<bfloat>&);
template void fill_loops(ConvLoops<float>&);
template void fill_loops(ConvLoops<double>&);
template void fill_loops(ConvLoops<int32_t>&);

const ColumnsLoop columns = &all_columns;

}  // namespace holdfast::nn::HOLDFAST_ISA
