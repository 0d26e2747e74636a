// The inner loops of our own convolution kernels, compiled once per instruction set.
#pragma once

#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::nn {

/// What sums of T are kept in. Integers wrap around, as TensorFlow's do: unsigned, so that it is
/// defined.
template <class T>
using sum_of = std::conditional_t<std::is_same_v<T, int32_t>, uint32_t, float_of<T>>;

template <class T>
struct ConvLoops {
  using W = sum_of<T>;
  /// sum[0..n) += x[i] * w[i * step + 0..n), over i in [0, k).
  void (*rows)(const T* x, int64_t k, const T* w, int64_t step, W* sum, int64_t n);
  /// sum[i] += the dot product of y[0..n) and w[i * step + 0..n), for i in [0, k).
  void (*dots)(const T* y, int64_t n, const T* w, int64_t step, W* sum, int64_t k);
  /// sum[i * step + 0..n) += x[i] * y[0..n), for i in [0, k).
  void (*outer)(const T* x, int64_t k, const T* y, int64_t n, W* sum, int64_t step);
};

/// Numbers that one call of `columns` computes for a row.
inline constexpr int64_t kColumns = 16;
/// out[r * 16 + 0..16) = y[r * n + o] * w[o * 16 + 0..16), summed over o in [0, n).
using ColumnsLoop = void (*)(const float* y, int64_t rows, int64_t n, const float* w, float* out);

#define HOLDFAST_DECLARE(isa)       \
  namespace isa {                   \
  template <class T>                \
  void fill_loops(ConvLoops<T>&);   \
  extern const ColumnsLoop columns; \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE)
#undef HOLDFAST_DECLARE

/// Those of this machine's best instruction set.
template <class T>
const ConvLoops<T>& conv_loops();
ColumnsLoop columns_loop();

}  // namespace holdfast::nn
