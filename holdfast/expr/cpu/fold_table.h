// Inner loops of reductions, one table per instruction set.
#pragma once

#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/expr/fold.h"
#include "holdfast/tensor/dtype.h"

namespace holdfast {

/// What a reduction does to a stretch of memory. Partial results ("cells") may be wider than the
/// elements: 16-bit floats are folded in float, the mean of integers in 64 bits.
struct FoldLoops {
  /// cells[r] = fold of x[r * stride] .. x[r * stride + n - 1]; n > 0.
  void (*rows)(const void* x, int64_t rows, int64_t n, int64_t stride, void* cells) = nullptr;
  /// cells[j] = fold of x[j], x[j + stride] ... over `rows` rows of `width`; rows > 0.
  void (*columns)(const void* x, int64_t rows, int64_t stride, int64_t width,
                  void* cells) = nullptr;
  /// cells[i] takes in more[i].
  void (*combine)(void* cells, const void* more, int64_t n) = nullptr;
  /// cells[i] = the fold of nothing.
  void (*clear)(void* cells, int64_t n) = nullptr;
  /// out[i] = the result, where each cell folded `count` elements.
  void (*finish)(const void* cells, int64_t n, int64_t count, void* out) = nullptr;
  int64_t cell = 0;  // bytes of a partial result
};

struct FoldTable {
  FoldLoops loops[kNumFolds][kNumDTypes] = {};
};

#define HOLDFAST_DECLARE_FOLDS(isa)   \
  namespace isa {                     \
  void add_float_folds(FoldTable&);   \
  void add_integer_folds(FoldTable&); \
  void add_wide_folds(FoldTable&);    \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE_FOLDS)
#undef HOLDFAST_DECLARE_FOLDS

/// The loops of this machine's best instruction set.
HOLDFAST_API const FoldLoops& fold_loops(Fold, DType);

}  // namespace holdfast
