// Matrix products on the CPU: what ops ask for, and our own kernel's table.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "holdfast/base/status.h"
#include "holdfast/base/variants.h"
#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/tensor/dtype.h"

namespace holdfast::gemm {

/// How an operand is read: as it lies, or with rows and columns exchanged, and its conjugate.
struct Reading {
  bool transposed = false, conjugated = false;
};

/// c[m,n] = a[m,k] b[k,n], dense and row-major; a transposed operand lies as [k,m] or [n,k].
struct Product {
  DType dtype =
      DType::kInvalid;  // float32, float64, int32, int64 (also for the unsigned ones), complex
  int64_t m = 0, n = 0, k = 0;
  Reading read_a, read_b;
};

/// Several products; those of number i are `a_at[i]` (`b_at[i]`) matrices into `a` (`b`). Without
/// such a list it is matrix i where they are in order, and else the first.
struct Batch {
  int64_t size = 1;
  const int64_t *a_at = nullptr, *b_at = nullptr;
  bool a_in_order = true, b_in_order = true;
  bool b_shared = false;  // there is one b
};

struct BatchPrimitive;
/// What a library makes for a batch, by dtype and threads: kept by who multiplies such batches
/// again.
using BatchPrimitives = Variants<std::pair<DType, int>, std::shared_ptr<const BatchPrimitive>>;

/// Runs them with the fastest library for the shape; none of m, n, k, batch is 0. Without `kept`
/// no primitive is made.
Status multiply(const Product&, const Batch&, const void* a, const void* b, void* c,
                const BatchPrimitives* kept = nullptr);
/// Products of bfloat16, where the processor has instructions for them; else false.
bool multiply_bfloat(const Product&, const Batch&, const void* a, const void* b, void* c,
                     const BatchPrimitives& kept);

/// Our own kernel, one thread: strides are in elements.
struct Strided {
  int64_t m, n, k;
  const void* a;
  int64_t a_row, a_col;
  const void* b;
  int64_t b_row, b_col;
  void* c;
  int64_t c_row;
  bool conj_a, conj_b;
};
using GemmLoop = void (*)(const Strided&);
struct GemmTable {
  GemmLoop f32, f64, i32, i64, c64, c128;
  // float32 of at most 64 a side, `b` by rows; any number of rows where columns fill whole vectors.
  // False: another.
  bool (*small)(const Strided&);
  int64_t lanes;  // float32 of a vector
};

}  // namespace holdfast::gemm

namespace holdfast {
#define HOLDFAST_DECLARE_GEMM(isa) \
  namespace isa {                  \
  gemm::GemmTable gemm_table();    \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE_GEMM)
#undef HOLDFAST_DECLARE_GEMM
}  // namespace holdfast
