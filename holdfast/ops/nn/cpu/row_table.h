// Inner loops of softmax, cross entropy and normalisation, one table per instruction set.
#pragma once

#include <cstdint>

#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/tensor/dtype.h"

namespace holdfast {

/// Over rows of `n` elements that lie one after another.
struct RowLoops {
  /// y = exp(x) / sum(exp(x)), or its logarithm.
  void (*softmax)(const void* x, void* y, int64_t rows, int64_t n, bool log) = nullptr;
  /// dx = (dy - sum(dy * y)) * y, or for the logarithm dy - sum(dy) * exp(y).
  void (*softmax_gradient)(const void* dy, const void* y, void* dx, int64_t rows, int64_t n,
                           bool log) = nullptr;
  /// loss[r] = -sum(labels * log_softmax(x)), back = softmax(x) - labels. A stride of 0 repeats.
  void (*cross_entropy)(const void* x, int64_t x_row, int64_t x_step, const void* labels,
                        int64_t l_row, int64_t l_step, int64_t rows, int64_t n, void* loss,
                        void* back) = nullptr;
  /// loss[r] = -log_softmax(x)[label[r]], back = softmax(x) - one_hot(label). Labels are in range.
  void (*sparse_cross_entropy)(const void* x, const int64_t* labels, int64_t rows, int64_t n,
                               void* loss, void* back) = nullptr;
};

/// Over float32 or float64 seen as [outer, channels, inner].
struct ChannelLoops {
  /// squares[c] = sum of (x - mean[c])^2.
  void (*squares)(const void* x, const void* mean, int64_t outer, int64_t channels, int64_t inner,
                  void* squares) = nullptr;
  /// y = (x - mean[c]) * scale[c] + offset[c].
  void (*apply)(const void* x, const void* mean, const void* scale, const void* offset,
                int64_t outer, int64_t channels, int64_t inner, void* y) = nullptr;
  /// sums[c] = sum of dy, products[c] = sum of dy * (x - mean[c]).
  void (*gradient_sums)(const void* dy, const void* x, const void* mean, int64_t outer,
                        int64_t channels, int64_t inner, void* sums, void* products) = nullptr;
  /// dx = (dy - a[c] - (x - mean[c]) * b[c]) * scale[c].
  void (*gradient)(const void* dy, const void* x, const void* mean, const void* a, const void* b,
                   const void* scale, int64_t outer, int64_t channels, int64_t inner,
                   void* dx) = nullptr;
};

/// Over rows of `n` float32 or float64.
struct LayerLoops {
  /// y = (x - mean) * inverse * scale + offset; mean[r] and inverse[r] = 1 / sqrt(variance +
  /// epsilon) are written.
  void (*forward)(const void* x, const void* scale, const void* offset, int64_t rows, int64_t n,
                  double epsilon, void* y, void* mean, void* inverse) = nullptr;
  /// dx, and scale[k] = sum of dy * (x - mean) * inverse, offset[k] = sum of dy over the rows.
  void (*backward)(const void* dy, const void* x, const void* scale, const void* mean,
                   const void* inverse, int64_t rows, int64_t n, void* dx, void* dscale,
                   void* doffset) = nullptr;
};

struct RowTable {
  RowLoops rows[kNumDTypes] = {};
  ChannelLoops channels[kNumDTypes] = {};
  LayerLoops layers[kNumDTypes] = {};
};

#define HOLDFAST_DECLARE_ROWS(isa)   \
  namespace isa {                    \
  void add_softmax_loops(RowTable&); \
  void add_norm_loops(RowTable&);    \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE_ROWS)
#undef HOLDFAST_DECLARE_ROWS

/// The loops of this machine's best instruction set.
const RowTable& row_loops();

}  // namespace holdfast
