// Which library multiplies, and with how many threads.
//
// The rule, from measurements on one core of a Xeon with AVX-512 that other programs shared:
// GFLOP/s at one thread, the best call of several runs, not all of one minute, so that differences
// of a tenth mean nothing. OpenBLAS 0.3.21 does not know that processor and falls back to its SSE2
// kernels; the second number is with OPENBLAS_CORETYPE=SkylakeX. The thresholds below (work a
// thread, small sizes, tiles) are estimates, not measured.
//
// clang-format off
//   batch x m x k x n     float32: oneDNN gemm  oneDNN matmul  OpenBLAS  ours   float64: OpenBLAS  ours
//   256 x 256 x 256                        169            168   33, 152   135              12, 68    67
//   32 x 128 x 128 x 128                   162            153   24, 114   112              11, 40    45
//   128 x 784 x 512                        172            155   28, 138   134              10, 54    62
//   1 x 512 x 512                           43             12     7, 30    20               3, 10     9
//   512 x 512 x 1                           45             10     5, 30    19               4, 16    11
//   4096 x 16 x 16                         101            105    16, 50    29              10, 33    21
//   16 x 16 x 16                            18              5    14, 56    23              10, 46    22
//   256 x 16 x 16 x 16                      18             80    16, 60    20               8, 41    24
// clang-format on
//
// So float32 goes to oneDNN's gemm, whose call costs least, vectors included, but for what is
// small: up to 64 a side our own loop reads operands where they lie, and is done before a call of a
// library has begun (one core of an EPYC with AVX2, microseconds of oneDNN's gemm and of the loop:
// 4 x 4 x 4 0.94 and 0.05, 16 x 16 x 16 1.02 and 0.10, 32 x 32 x 32 1.7 and 0.8, 64 x 64 x 64 7.3
// and 5.0). So do many rows times such a matrix, if its columns fill whole vectors (4096 x 16 x 16
// 31.8 and 26.6, 4096 x 32 x 32 95 and 91, 128 x 64 x 64 13.9 and 12.2). Batches of small matrices
// whose second is transposed go to its matmul primitive, one call for all. oneDNN has no float64,
// no complex numbers and no integers: OpenBLAS takes the first two where it knows the processor,
// our own kernel the rest.
//
// OpenBLAS always runs at one thread: its pool and the OpenMP team would fight for the cores, and a
// change of its thread count is global. Products are cut into tiles for the team instead. oneDNN
// shares the team and cuts for itself, except in deterministic mode, where the tiles have fixed
// sizes and one thread each, so that results do not depend on the number of threads.
#include "holdfast/ops/linalg/cpu/gemm.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "holdfast/base/interrupt.h"
#include "holdfast/base/parallel.h"
#include "holdfast/ops/linalg/cpu/onednn.h"
#include "holdfast/ops/linalg/cpu/spaced.h"

#ifdef HOLDFAST_OPENBLAS
#include <cblas.h>
#endif

namespace holdfast::gemm {
namespace {

// Fewer multiplications than this are not worth waking a thread.
constexpr double kWorthAThread = 64.0 * 64 * 64;
// Below this a call of a library costs as much as the product.
constexpr int64_t kSmall = 48;
// Tiles of deterministic mode: large enough for the packing to pay, small enough for many threads.
constexpr int64_t kTileRows = 240, kTileColumns = 512;

// So many multiplications take a core about a quarter of a second: what is larger is cut, so that
// it can be stopped.
double most_at_once(DType d) {
  return d == DType::kFloat32 ? 2e10 : d == DType::kFloat64 ? 5e9 : 5e8;
}

double work(const Product& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

int threads_for(double multiplications) {
  double n = multiplications / kWorthAThread;
  return n < 2 ? 1 : n > 1e6 ? 1000000 : static_cast<int>(n);
}

const GemmTable& own() {
  static const GemmTable table = HOLDFAST_BEST_ISA(gemm_table());
  return table;
}

GemmLoop own_loop(DType d) {
  const GemmTable& t = own();
  switch (d) {
    case DType::kFloat32: return t.f32;
    case DType::kFloat64: return t.f64;
    case DType::kInt32:
    case DType::kUInt32: return t.i32;
    case DType::kInt64:
    case DType::kUInt64: return t.i64;
    case DType::kComplex64: return t.c64;
    default: return t.c128;
  }
}

#ifdef HOLDFAST_OPENBLAS
// Whether OpenBLAS has kernels for this processor, or fell back to those of a much older one.
bool blas_knows_processor() {
  static const bool yes = [] {
    openblas_set_num_threads(1);
    std::string_view core = openblas_get_corename();
    for (const char* wide : {"Haswell", "SkylakeX", "Cooperlake", "Sapphirerapids",
                             "SapphireRapids", "Zen", "Excavator"})
      if (core == wide) return true;
    return false;
  }();
  return yes;
}

CBLAS_TRANSPOSE reading(Reading r) {
  if (r.conjugated) return r.transposed ? CblasConjTrans : CblasConjNoTrans;
  return r.transposed ? CblasTrans : CblasNoTrans;
}
#endif

// One float32 product of at most 64 a side, on this thread alone: a call of a library would take as
// long again.
bool multiply_small(const Product& p, int64_t rows, int64_t columns, const void* a, int64_t lda,
                    const void* b, int64_t ldb, void* c) {
  if (p.dtype != DType::kFloat32) return false;
  bool ta = p.read_a.transposed, tb = p.read_b.transposed;
  return own().small({rows, columns, p.k, a, ta ? 1 : lda, ta ? lda : 1, b, tb ? 1 : ldb,
                      tb ? ldb : 1, c, p.n, false, false});
}

// Many rows times a small matrix: pieces of rows side by side, with the bits of the whole.
bool multiply_tall(const Product& p, const void* a, const void* b, void* c) {
  if (p.dtype != DType::kFloat32 || p.read_b.transposed || p.n % own().lanes ||
      std::max(p.n, p.k) > 64)
    return false;
  bool ta = p.read_a.transposed;
  int64_t rows = std::max<int64_t>(64, static_cast<int64_t>(kWorthAThread) / (p.n * p.k));
  parallel_for(p.m, rows, [&](int64_t begin, int64_t end) {
    own().small({end - begin, p.n, p.k, static_cast<const float*>(a) + begin * (ta ? 1 : p.k),
                 ta ? 1 : p.k, ta ? p.m : 1, b, p.n, 1, static_cast<float*>(c) + begin * p.n, p.n,
                 false, false});
  });
  return true;
}

// The part [i0, i0 + p.m) x [j0, j0 + p.n) of a product of sizes `whole`, on this thread alone.
void multiply_tile(const Product& whole, int64_t i0, int64_t rows, int64_t j0, int64_t columns,
                   const void* a, const void* b, void* c) {
  int64_t size = size_of(whole.dtype);
  int64_t lda = whole.read_a.transposed ? whole.m : whole.k,
          ldb = whole.read_b.transposed ? whole.k : whole.n;
  const char* pa = static_cast<const char*>(a) + size * (whole.read_a.transposed ? i0 : i0 * lda);
  const char* pb = static_cast<const char*>(b) + size * (whole.read_b.transposed ? j0 * ldb : j0);
  char* pc = static_cast<char*>(c) + size * (i0 * whole.n + j0);
  if (multiply_small(whole, rows, columns, pa, lda, pb, ldb, pc)) return;
  Team one(1);
  if (whole.dtype == DType::kFloat32 &&
      onednn_gemm(whole.read_a.transposed, whole.read_b.transposed, rows, columns, whole.k,
                  reinterpret_cast<const float*>(pa), lda, reinterpret_cast<const float*>(pb), ldb,
                  reinterpret_cast<float*>(pc), whole.n))
    return;
#ifdef HOLDFAST_OPENBLAS
  if (blas_knows_processor() && std::max({whole.m, whole.n, whole.k}) < INT32_MAX) {
    auto ta = reading(whole.read_a), tb = reading(whole.read_b);
    int m = static_cast<int>(rows), n = static_cast<int>(columns), k = static_cast<int>(whole.k);
    int la = static_cast<int>(lda), lb = static_cast<int>(ldb), lc = static_cast<int>(whole.n);
    const double one_z[2] = {1, 0}, zero_z[2] = {0, 0};
    const float one_c[2] = {1, 0}, zero_c[2] = {0, 0};
    switch (whole.dtype) {
      case DType::kFloat32:
        return cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, reinterpret_cast<const float*>(pa),
                           la, reinterpret_cast<const float*>(pb), lb, 0,
                           reinterpret_cast<float*>(pc), lc);
      case DType::kFloat64:
        return cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, reinterpret_cast<const double*>(pa),
                           la, reinterpret_cast<const double*>(pb), lb, 0,
                           reinterpret_cast<double*>(pc), lc);
      case DType::kComplex64:
        return cblas_cgemm(CblasRowMajor, ta, tb, m, n, k, one_c, pa, la, pb, lb, zero_c, pc, lc);
      case DType::kComplex128:
        return cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, one_z, pa, la, pb, lb, zero_z, pc, lc);
      default: break;
    }
  }
#endif
  own_loop(whole.dtype)({rows, columns, whole.k, pa, whole.read_a.transposed ? 1 : lda,
                         whole.read_a.transposed ? lda : 1, pb, whole.read_b.transposed ? 1 : ldb,
                         whole.read_b.transposed ? ldb : 1, pc, whole.n, whole.read_a.conjugated,
                         whole.read_b.conjugated});
}

// Rows of a product.
struct Rows {
  int64_t first, count;
};

// How they are cut: all tiles of one size but those at the edges.
struct Tiles {
  int64_t rows, columns, down, across;
  int64_t count() const { return down * across; }
};
Tiles cut(const Product& p, Rows r, int64_t rows, int64_t columns) {
  return {rows, columns, (r.count + rows - 1) / rows, (p.n + columns - 1) / columns};
}

// As many tiles as threads, cut across the longer side: no operand is packed more often than it
// must be.
Tiles cut_for(const Product& p, Rows r, int threads) {
  if (r.count >= p.n) return cut(p, r, (r.count + threads - 1) / threads, p.n);
  return cut(p, r, r.count, (p.n + threads - 1) / threads);
}

void multiply_tiles(const Product& p, Rows r, const Tiles& t, const void* a, const void* b,
                    void* c) {
  parallel_for(t.count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t i0 = i / t.across * t.rows, j0 = i % t.across * t.columns;
      multiply_tile(p, r.first + i0, std::min(t.rows, r.count - i0), j0,
                    std::min(t.columns, p.n - j0), a, b, c);
    }
  });
}

// For a few threads one cut across the longer side is better than those that oneDNN makes for
// many. Two cores of a Zen 4, microseconds of oneDNN and of tiles (T: the right operand is
// transposed):
//
//   256 x 512 x 2048    3392   2420      T 64 x 1024 x 1024    1940    913
//   512 x 512 x 1024    2770   2390      T 32 x 4096 x 1024    6590   2470
//   1024 x 1024 x 1024  10440  9760      T 128 x 512 x 512      520    375
//   128 x 512 x 512      320    325      T 256 x 256 x 256      195    168
//   128 x 784 x 512      480    485      64 x 1024 x 1024       630    650
//
// More threads were not measured, nor was AVX2, where operands are copied for oneDNN (spaced.h).
bool cuts_better(const Product& p, Rows r, int threads) {
  constexpr int kFew = 4;
  constexpr int64_t kLeast = 64;  // rows or columns of a tile
  return threads > 1 && threads <= kFew && best_isa() == Isa::kAvx512 &&
         std::max(r.count, p.n) >= threads * kLeast;
}

void multiply_rows(const Product& p, Rows r, const void* a, const void* b, void* c) {
  if (deterministic()) return multiply_tiles(p, r, cut(p, r, kTileRows, kTileColumns), a, b, c);
  int threads = std::min(num_threads(), threads_for(work(p) * static_cast<double>(r.count) /
                                                    static_cast<double>(p.m)));
  if (p.dtype == DType::kFloat32 && !cuts_better(p, r, threads)) {
    bool ta = p.read_a.transposed, tb = p.read_b.transposed,
         in_place = Spaced::in_place(r.count, p.n);
    const float* from = static_cast<const float*>(a) + (ta ? 0 : r.first * p.k);
    Spaced left(Spaced::kLeft, from, ta ? p.k : r.count, ta ? p.m : p.k, ta && in_place ? p.n : 0);
    Spaced right(Spaced::kRight, static_cast<const float*>(b), tb ? p.n : p.k, tb ? p.k : p.n,
                 !tb && in_place ? r.count : 0);
    Team team(threads);
    if (onednn_gemm(ta, tb, r.count, p.n, p.k, left.data() + (ta ? r.first : 0), left.step(),
                    right.data(), right.step(), static_cast<float*>(c) + r.first * p.n, p.n))
      return;
  }
  multiply_tiles(p, r, cut_for(p, r, threads), a, b, c);
}

void multiply_one(const Product& p, const void* a, const void* b, void* c) {
  if (p.m > 64 ? multiply_tall(p, a, b, c)
               : multiply_small(p, p.m, p.n, a, p.read_a.transposed ? p.m : p.k, b,
                                p.read_b.transposed ? p.k : p.n, c))
    return;
  int64_t rows = p.m;
  if (work(p) > 2 * most_at_once(p.dtype))
    rows =
        kTileRows * std::max<int64_t>(
                        1, static_cast<int64_t>(most_at_once(p.dtype) /
                                                (work(p) / static_cast<double>(p.m)) / kTileRows));
  for (int64_t i = 0; i < p.m; i += rows) {
    multiply_rows(p, {i, std::min(rows, p.m - i)}, a, b, c);
    if (rows < p.m) check_interrupt();
  }
}

}  // namespace

Status multiply(const Product& asked, const Batch& batch, const void* a, const void* b, void* c,
                const BatchPrimitives* kept) {
  Product p = asked;
  int64_t count = batch.size;
  if (count > 1 && batch.b_shared && batch.a_in_order && !p.read_a.transposed) {
    // One matrix times many: the many, one below the other, are a single taller one.
    p.m *= count;
    count = 1;
  }
  int64_t size = size_of(p.dtype);
  auto a_of = [&](int64_t i) {
    int64_t at = batch.a_at ? batch.a_at[i] : batch.a_in_order ? i : 0;
    return static_cast<const char*>(a) + at * p.m * p.k * size;
  };
  auto b_of = [&](int64_t i) {
    int64_t at = batch.b_at ? batch.b_at[i] : batch.b_in_order ? i : 0;
    return static_cast<const char*>(b) + at * p.k * p.n * size;
  };
  auto result = [&](int64_t i) { return static_cast<char*>(c) + i * p.m * p.n * size; };
  if (count == 1) {
    multiply_one(p, a_of(0), b_of(0), c);
    return {};
  }
  // Our own loop takes small ones one by one, unless it would have to turn them.
  bool small = std::max({p.m, p.n, p.k}) <= kSmall && p.read_b.transposed;
  if (kept && p.dtype == DType::kFloat32 && small && count >= 8 && !deterministic()) {
    Team team(threads_for(work(p) * static_cast<double>(count)));
    if (onednn_batch(p, batch, a, b, c, team.threads(), *kept)) return {};
  }
  // Large ones one after another, each with the whole team; small ones side by side.
  if (work(p) > 64 * kWorthAThread && count < 4 * num_threads()) {
    for (int64_t i = 0; i < count; ++i) multiply_one(p, a_of(i), b_of(i), result(i));
    return {};
  }
  int64_t grain =
      std::max<int64_t>(1, static_cast<int64_t>(kWorthAThread / std::max(1.0, work(p))));
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      multiply_tile(p, 0, p.m, 0, p.n, a_of(i), b_of(i), result(i));
  });
  return {};
}

bool multiply_bfloat(const Product& p, const Batch& batch, const void* a, const void* b, void* c,
                     const BatchPrimitives& kept) {
  if (deterministic()) return false;
  Team team(threads_for(work(p) * static_cast<double>(batch.size) / 4));
  return onednn_batch(p, batch, a, b, c, team.threads(), kept);
}

}  // namespace holdfast::gemm
