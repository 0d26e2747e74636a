// Softmax and cross entropy over rows. A row is read three times while it lies in the nearest
// cache: its maximum, the exponentials with their sum, the scaling. 16-bit floats are computed as
// float.
#include <algorithm>
#include <vector>

#include "holdfast/expr/cpu/make_folds.h"
#include "holdfast/expr/scalar_math.h"
#include "holdfast/ops/nn/cpu/row_table.h"

namespace holdfast::HOLDFAST_ISA {
namespace {

constexpr int64_t kExpBlock = 1024;
constexpr int64_t kPiece = 128;  // elements between two requests for memory

template <class W>
W most_of(const W* x, int64_t n) {
  return Loops<Max<W>, W>::row(x, n);
}

template <class W>
void exp_block(const W* x, W most, int64_t n, W* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = scalar::exp(x[i] - most);
}

// Asks for lines that will be read and written soon.
template <class W>
void fetch(const W* x, W* y, int64_t n) {
  constexpr int64_t kLine = 64 / sizeof(W);
  for (int64_t i = 0; i < n; i += kLine) {
    __builtin_prefetch(x + i, 0);
    __builtin_prefetch(y + i, 1);
  }
}

// y = exp(x - most); returns the sum. Without y only the sum. `next`: how far on the row is that
// comes after it, 0 for none. It is fetched meanwhile: rows are too short for the processor to see
// where the next one begins.
template <class W>
W exponentials(const W* x, W most, int64_t n, W* y, int64_t next = 0) {
  W buffer[kExpBlock];
  W sum = 0;
  for (int64_t i = 0; i < n; i += kExpBlock) {
    int64_t count = std::min(kExpBlock, n - i);
    W* to = y ? y + i : buffer;
    for (int64_t k = 0; k < count; k += kPiece) {
      int64_t piece = std::min(kPiece, count - k);
      exp_block(x + i + k, most, piece, to + k);
      if (next) fetch(x + i + k + next, to + k + next, piece);
    }
    sum += Core<Add, W>::block(to, count);
  }
  return sum;
}

template <class W>
void scale_block(W* y, int64_t n, W by) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] *= by;
}
template <class W>
void subtract_block(const W* x, int64_t n, W by, W* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - by;
}

template <class W>
void softmax_row(const W* x, W* y, int64_t n, bool log, int64_t next = 0) {
  W most = most_of(x, n);
  if (log) {
    W sum = exponentials<W>(x, most, n, nullptr);
    subtract_block<W>(x, n, most, y);
    subtract_block<W>(y, n, scalar::log(sum), y);
    return;
  }
  W sum = exponentials(x, most, n, y, next);
  scale_block(y, n, W(1) / sum);
}

template <class T, class W>
void widen(const T* x, int64_t n, W* to) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<W>(x[i]);
}
template <class T, class W>
void narrow(const W* x, int64_t n, T* to) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(x[i]);
}

template <class T>
void softmax(const void* from, void* to, int64_t rows, int64_t n, bool log) {
  using W = float_of<T>;
  auto* x = static_cast<const T*>(from);
  auto* y = static_cast<T*>(to);
  if constexpr (std::is_same_v<T, W>) {
    for (int64_t r = 0; r < rows; ++r)
      softmax_row<W>(x + r * n, y + r * n, n, log, r + 1 < rows ? n : 0);
  } else {
    std::vector<W> wide(static_cast<size_t>(2 * n));
    for (int64_t r = 0; r < rows; ++r) {
      widen(x + r * n, n, wide.data());
      softmax_row<W>(wide.data(), wide.data() + n, n, log);
      narrow(wide.data() + n, n, y + r * n);
    }
  }
}

template <class T, class W>
const W* row_of(const T* x, int64_t step, int64_t n, W* buffer) {
  if constexpr (std::is_same_v<T, W>)
    if (step == 1) return x;
  if (step == 1)
    widen(x, n, buffer);
  else
    std::fill_n(buffer, n, static_cast<W>(*x));
  return buffer;
}

template <class W>
void gradient_row(const W* dy, const W* y, W* dx, int64_t n, bool log) {
  W buffer[kExpBlock];
  W sum = 0;
  for (int64_t i = 0; i < n; i += kExpBlock) {
    int64_t count = std::min(kExpBlock, n - i);
    if (log) {
      sum += Core<Add, W>::block(dy + i, count);
      continue;
    }
#pragma GCC ivdep
    for (int64_t k = 0; k < count; ++k) buffer[k] = dy[i + k] * y[i + k];
    sum += Core<Add, W>::block(buffer, count);
  }
  if (log) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] - sum * scalar::exp(y[i]);
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) dx[i] = (dy[i] - sum) * y[i];
  }
}

template <class T>
void softmax_gradient(const void* arrived, const void* result, void* out, int64_t rows, int64_t n,
                      bool log) {
  using W = float_of<T>;
  auto* dy = static_cast<const T*>(arrived);
  auto* y = static_cast<const T*>(result);
  auto* dx = static_cast<T*>(out);
  if constexpr (std::is_same_v<T, W>) {
    for (int64_t r = 0; r < rows; ++r) gradient_row<W>(dy + r * n, y + r * n, dx + r * n, n, log);
  } else {
    std::vector<W> wide(static_cast<size_t>(2 * n));
    for (int64_t r = 0; r < rows; ++r) {
      widen(dy + r * n, n, wide.data());
      widen(y + r * n, n, wide.data() + n);
      gradient_row<W>(wide.data(), wide.data() + n, wide.data(), n, log);
      narrow(wide.data(), n, dx + r * n);
    }
  }
}

// Returns log(sum(exp(x - most))) and turns `back` into softmax(x).
template <class W>
W soft_row(const W* x, W most, int64_t n, W* back) {
  W sum = exponentials(x, most, n, back);
  scale_block(back, n, W(1) / sum);
  return scalar::log(sum);
}

template <class W>
W cross_row(const W* x, const W* labels, int64_t n, W* back) {
  W most = most_of(x, n), log_sum = soft_row(x, most, n, back);
  W buffer[kExpBlock];
  W loss = 0;
  for (int64_t i = 0; i < n; i += kExpBlock) {
    int64_t count = std::min(kExpBlock, n - i);
#pragma GCC ivdep
    for (int64_t k = 0; k < count; ++k) {
      W label = labels[i + k];
      buffer[k] = label * (log_sum - (x[i + k] - most));
      back[i + k] -= label;
    }
    loss += Core<Add, W>::block(buffer, count);
  }
  return loss;
}

template <class T>
void cross_entropy(const void* from, int64_t x_row, int64_t x_step, const void* with, int64_t l_row,
                   int64_t l_step, int64_t rows, int64_t n, void* loss, void* back) {
  using W = float_of<T>;
  auto* x = static_cast<const T*>(from);
  auto* labels = static_cast<const T*>(with);
  auto* losses = static_cast<T*>(loss);
  auto* to = static_cast<T*>(back);
  std::vector<W> buffer(static_cast<size_t>(3 * n));
  for (int64_t r = 0; r < rows; ++r) {
    const W* a = row_of(x + r * x_row, x_step, n, buffer.data());
    const W* b = row_of(labels + r * l_row, l_step, n, buffer.data() + n);
    if constexpr (std::is_same_v<T, W>) {
      losses[r] = cross_row(a, b, n, to + r * n);
    } else {
      losses[r] = static_cast<T>(cross_row(a, b, n, buffer.data() + 2 * n));
      narrow(buffer.data() + 2 * n, n, to + r * n);
    }
  }
}

template <class T>
void sparse_cross_entropy(const void* from, const int64_t* labels, int64_t rows, int64_t n,
                          void* loss, void* back) {
  using W = float_of<T>;
  auto* x = static_cast<const T*>(from);
  auto* to = static_cast<T*>(back);
  std::vector<W> buffer(static_cast<size_t>(std::is_same_v<T, W> ? 0 : 2 * n));
  for (int64_t r = 0; r < rows; ++r) {
    const W* a = row_of(x + r * n, 1, n, buffer.data());
    W* soft;
    if constexpr (std::is_same_v<T, W>)
      soft = to + r * n;
    else
      soft = buffer.data() + n;
    W most = most_of(a, n), log_sum = soft_row(a, most, n, soft);
    soft[labels[r]] -= W(1);
    static_cast<T*>(loss)[r] = static_cast<T>(log_sum - (a[labels[r]] - most));
    if constexpr (!std::is_same_v<T, W>) narrow(soft, n, to + r * n);
  }
}

template <class T>
void add(RowTable& t) {
  t.rows[static_cast<int>(dtype_of<T>)] = {softmax<T>, softmax_gradient<T>, cross_entropy<T>,
                                           sparse_cross_entropy<T>};
}

}  // namespace

void add_softmax_loops(RowTable& t) {
  add<float>(t);
  add<double>(t);
  add<half>(t);
  add<bfloat>(t);
}

}  // namespace holdfast::HOLDFAST_ISA
