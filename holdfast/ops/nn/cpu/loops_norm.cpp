// Batch and layer normalisation in float32 and float64.
//
// Batch: [outer, channels, inner]. With inner 1 (channels last) loops run across channels, else
// along the planes of one channel. Callers pass few enough rows that sums stay accurate, and join
// them. Layer: rows; the second pass over a row takes the variance around the mean, not as a
// difference of squares.
#include <algorithm>
#include <cmath>

#include "holdfast/expr/cpu/make_folds.h"
#include "holdfast/ops/nn/cpu/row_table.h"

namespace holdfast::HOLDFAST_ISA {
namespace {

constexpr int64_t kSumBlock = 1024;

// Sum of f(i) for i in [0, n), a block at a time.
template <class W, class F>
HF_INLINE W sum_over(int64_t n, F f) {
  W buffer[kSumBlock];
  W sum = 0;
  for (int64_t i = 0; i < n; i += kSumBlock) {
    int64_t count = std::min(kSumBlock, n - i);
#pragma GCC ivdep
    for (int64_t k = 0; k < count; ++k) buffer[k] = f(i + k);
    sum += Core<Add, W>::block(buffer, count);
  }
  return sum;
}

template <class W>
void squares(const void* from, const void* means, int64_t outer, int64_t channels, int64_t inner,
             void* out) {
  auto* x = static_cast<const W*>(from);
  auto* mean = static_cast<const W*>(means);
  auto* sum = static_cast<W*>(out);
  std::fill_n(sum, channels, W(0));
  for (int64_t o = 0; o < outer; ++o) {
    if (inner == 1) {
      const W* row = x + o * channels;
#pragma GCC ivdep
      for (int64_t c = 0; c < channels; ++c) sum[c] += (row[c] - mean[c]) * (row[c] - mean[c]);
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) {
      const W* plane = x + (o * channels + c) * inner;
      W m = mean[c];
      sum[c] += sum_over<W>(inner, [=](int64_t i) { return (plane[i] - m) * (plane[i] - m); });
    }
  }
}

template <class W>
void apply(const void* from, const void* means, const void* scales, const void* offsets,
           int64_t outer, int64_t channels, int64_t inner, void* to) {
  auto* x = static_cast<const W*>(from);
  auto* mean = static_cast<const W*>(means);
  auto* scale = static_cast<const W*>(scales);
  auto* offset = static_cast<const W*>(offsets);
  auto* y = static_cast<W*>(to);
  for (int64_t o = 0; o < outer; ++o) {
    if (inner == 1) {
      int64_t at = o * channels;
#pragma GCC ivdep
      for (int64_t c = 0; c < channels; ++c)
        y[at + c] = (x[at + c] - mean[c]) * scale[c] + offset[c];
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) {
      int64_t at = (o * channels + c) * inner;
      W m = mean[c], s = scale[c], b = offset[c];
#pragma GCC ivdep
      for (int64_t i = 0; i < inner; ++i) y[at + i] = (x[at + i] - m) * s + b;
    }
  }
}

template <class W>
void gradient_sums(const void* dys, const void* xs, const void* means, int64_t outer,
                   int64_t channels, int64_t inner, void* out_sums, void* out_products) {
  auto* dy = static_cast<const W*>(dys);
  auto* x = static_cast<const W*>(xs);
  auto* mean = static_cast<const W*>(means);
  auto* sum = static_cast<W*>(out_sums);
  auto* product = static_cast<W*>(out_products);
  std::fill_n(sum, channels, W(0));
  std::fill_n(product, channels, W(0));
  for (int64_t o = 0; o < outer; ++o) {
    if (inner == 1) {
      int64_t at = o * channels;
#pragma GCC ivdep
      for (int64_t c = 0; c < channels; ++c) {
        sum[c] += dy[at + c];
        product[c] += dy[at + c] * (x[at + c] - mean[c]);
      }
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) {
      int64_t at = (o * channels + c) * inner;
      W m = mean[c];
      sum[c] += sum_over<W>(inner, [=](int64_t i) { return dy[at + i]; });
      product[c] += sum_over<W>(inner, [=](int64_t i) { return dy[at + i] * (x[at + i] - m); });
    }
  }
}

template <class W>
void gradient(const void* dys, const void* xs, const void* means, const void* as, const void* bs,
              const void* scales, int64_t outer, int64_t channels, int64_t inner, void* to) {
  auto* dy = static_cast<const W*>(dys);
  auto* x = static_cast<const W*>(xs);
  auto* mean = static_cast<const W*>(means);
  auto* a = static_cast<const W*>(as);
  auto* b = static_cast<const W*>(bs);
  auto* scale = static_cast<const W*>(scales);
  auto* dx = static_cast<W*>(to);
  for (int64_t o = 0; o < outer; ++o) {
    if (inner == 1) {
      int64_t at = o * channels;
#pragma GCC ivdep
      for (int64_t c = 0; c < channels; ++c)
        dx[at + c] = (dy[at + c] - a[c] - (x[at + c] - mean[c]) * b[c]) * scale[c];
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) {
      int64_t at = (o * channels + c) * inner;
      W m = mean[c], k = a[c], l = b[c], s = scale[c];
#pragma GCC ivdep
      for (int64_t i = 0; i < inner; ++i) dx[at + i] = (dy[at + i] - k - (x[at + i] - m) * l) * s;
    }
  }
}

template <class W>
void layer_forward(const void* xs, const void* scales, const void* offsets, int64_t rows, int64_t n,
                   double epsilon, void* ys, void* means, void* inverses) {
  auto* scale = static_cast<const W*>(scales);
  auto* offset = static_cast<const W*>(offsets);
  for (int64_t r = 0; r < rows; ++r) {
    auto* x = static_cast<const W*>(xs) + r * n;
    auto* y = static_cast<W*>(ys) + r * n;
    W mean = Loops<Sum<W>, W>::row(x, n) / static_cast<W>(n);
    W variance = sum_over<W>(n, [=](int64_t i) { return (x[i] - mean) * (x[i] - mean); }) /
                 static_cast<W>(n);
    W inverse = W(1) / std::sqrt(variance + static_cast<W>(epsilon));
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * scale[i] + offset[i];
    static_cast<W*>(means)[r] = mean;
    static_cast<W*>(inverses)[r] = inverse;
  }
}

template <class W>
void layer_backward(const void* dys, const void* xs, const void* scales, const void* means,
                    const void* inverses, int64_t rows, int64_t n, void* dxs, void* dscales,
                    void* doffsets) {
  auto* scale = static_cast<const W*>(scales);
  auto* dscale = static_cast<W*>(dscales);
  auto* doffset = static_cast<W*>(doffsets);
  std::fill_n(dscale, n, W(0));
  std::fill_n(doffset, n, W(0));
  for (int64_t r = 0; r < rows; ++r) {
    auto* x = static_cast<const W*>(xs) + r * n;
    auto* dy = static_cast<const W*>(dys) + r * n;
    auto* dx = static_cast<W*>(dxs) + r * n;
    W mean = static_cast<const W*>(means)[r], inverse = static_cast<const W*>(inverses)[r];
    W a = sum_over<W>(n, [=](int64_t i) { return dy[i] * scale[i]; }) / static_cast<W>(n);
    W b = sum_over<W>(n, [=](int64_t i) { return dy[i] * scale[i] * (x[i] - mean); }) /
          static_cast<W>(n) * inverse * inverse;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      W away = x[i] - mean;
      dx[i] = (dy[i] * scale[i] - a - away * b) * inverse;
      dscale[i] += dy[i] * away * inverse;
      doffset[i] += dy[i];
    }
  }
}

template <class W>
void add(RowTable& t) {
  auto d = static_cast<int>(dtype_of<W>);
  t.channels[d] = {squares<W>, apply<W>, gradient_sums<W>, gradient<W>};
  t.layers[d] = {layer_forward<W>, layer_backward<W>};
}

}  // namespace

void add_norm_loops(RowTable& t) {
  add<float>(t);
  add<double>(t);
}

}  // namespace holdfast::HOLDFAST_ISA
