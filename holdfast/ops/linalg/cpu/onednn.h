// The two ways into oneDNN's matrix products. Each answers false where oneDNN is absent or refuses.
#pragma once

#include "holdfast/ops/linalg/cpu/gemm.h"

namespace holdfast::gemm {

/// One float32 product; `ld*` are the lengths of rows in memory. Runs with the team in force.
bool onednn_gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                 const float* b, int64_t ldb, float* c, int64_t ldc);

/// A batch of float32 or bfloat16 products by one primitive, made once and kept. `a` holds the
/// batch in order; `b` does, or is one matrix for all.
bool onednn_batch(const Product&, const Batch&, const void* a, const void* b, void* c, int threads,
                  const BatchPrimitives& kept);

}  // namespace holdfast::gemm
