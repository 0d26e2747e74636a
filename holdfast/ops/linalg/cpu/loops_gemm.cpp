// Our own matrix product: panels of A and B are packed so that the innermost loop reads them in
// order, and a small tile of C stays in registers (Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication"). It serves the element types for which no library is
// fast, and machines without one.
#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>
#include <new>

#include "holdfast/ops/linalg/cpu/gemm.h"
#include "holdfast/ops/linalg/cpu/tile_in_place.h"

namespace holdfast::HOLDFAST_ISA {
namespace {

using gemm::Strided;

template <class W>
struct Parts {
  using Real = W;
  static constexpr int kPlanes = 1;
};
template <class R>
struct Parts<std::complex<R>> {
  using Real = R;
  static constexpr int kPlanes = 2;
};

template <class R>
struct Tile {
  typedef R Vec __attribute__((vector_size(kVectorBytes)));
  static constexpr int kLanes = kVectorBytes / sizeof(R);
};

// Complex tiles are half as high: they need two accumulators an element.
template <class W>
constexpr int rows() {
  return Parts<W>::kPlanes == 2 ? kRows / 2 : kRows;
}
template <class W>
constexpr int columns() {
  return 2 * Tile<typename Parts<W>::Real>::kLanes;
}

constexpr int64_t kDepth = 320, kHeight = 240, kWidth = 2048;

// acc[rows][columns] = a-panel x b-panel over `depth`, real.
template <class R>
void tile_product(int64_t depth, const R* a, const R* b, R* acc) {
  using V = typename Tile<R>::Vec;
  constexpr int lanes = Tile<R>::kLanes;
  V sum[kRows][2] = {};
  for (int64_t p = 0; p < depth; ++p, a += kRows, b += 2 * lanes) {
    V b0, b1;
    std::memcpy(&b0, b, sizeof b0);
    std::memcpy(&b1, b + lanes, sizeof b1);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      sum[i][0] += a[i] * b0;
      sum[i][1] += a[i] * b1;
    }
  }
  std::memcpy(acc, sum, sizeof sum);
}

// The same for complex numbers, real and imaginary parts packed apart.
template <class R>
void tile_product_complex(int64_t depth, const R* a, const R* b, R* acc) {
  using V = typename Tile<R>::Vec;
  constexpr int lanes = Tile<R>::kLanes, height = kRows / 2;
  V re[height][2] = {}, im[height][2] = {};
  for (int64_t p = 0; p < depth; ++p, a += 2 * height, b += 4 * lanes) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      V br, bi;
      std::memcpy(&br, b + j * lanes, sizeof br);
      std::memcpy(&bi, b + (2 + j) * lanes, sizeof bi);
#pragma GCC unroll 8
      for (int i = 0; i < height; ++i) {
        re[i][j] += a[i] * br;
        re[i][j] -= a[height + i] * bi;
        im[i][j] += a[i] * bi;
        im[i][j] += a[height + i] * br;
      }
    }
  }
  std::memcpy(acc, re, sizeof re);
  std::memcpy(acc + height * 2 * lanes, im, sizeof im);
}

// Packs `lines` x `depth` elements into panels of `width` lines, padded with zeros.
template <class W, int width>
void pack(const W* from, int64_t line_step, int64_t depth_step, int64_t lines, int64_t depth,
          bool conj, typename Parts<W>::Real* to) {
  using R = typename Parts<W>::Real;
  constexpr int planes = Parts<W>::kPlanes;
  for (int64_t first = 0; first < lines; first += width, to += depth * width * planes) {
    int count = static_cast<int>(std::min<int64_t>(width, lines - first));
    const W* base = from + first * line_step;
    if (count < width) std::fill_n(to, depth * width * planes, R(0));
    auto put = [&](int64_t p, int i) {
      const W& v = base[i * line_step + p * depth_step];
      if constexpr (planes == 2) {
        to[p * 2 * width + i] = v.real();
        to[p * 2 * width + width + i] = conj ? -v.imag() : v.imag();
      } else {
        to[p * width + i] = v;
      }
    };
    if (line_step == 1) {
      for (int64_t p = 0; p < depth; ++p)
        for (int i = 0; i < count; ++i) put(p, i);
    } else {
      for (int i = 0; i < count; ++i)
        for (int64_t p = 0; p < depth; ++p) put(p, i);
    }
  }
}

template <class W>
void store_tile(const typename Parts<W>::Real* acc, W* c, int64_t c_row, int64_t height,
                int64_t width, bool add) {
  constexpr int w = columns<W>(), h = rows<W>();
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < width; ++j) {
      W v;
      if constexpr (Parts<W>::kPlanes == 2)
        v = W(acc[i * w + j], acc[h * w + i * w + j]);
      else
        v = acc[i * w + j];
      c[i * c_row + j] = add ? c[i * c_row + j] + v : v;
    }
}

// Scratch that a thread keeps: products of one size come again and again.
template <class R>
R* scratch(int which, int64_t count) {
  struct Free {
    void operator()(void* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  thread_local std::unique_ptr<void, Free> held[2];
  thread_local int64_t bytes[2] = {0, 0};
  int64_t need = count * static_cast<int64_t>(sizeof(R));
  if (bytes[which] < need) {
    held[which].reset();
    bytes[which] = 0;
    held[which].reset(::operator new(static_cast<size_t>(need), std::align_val_t(64)));
    bytes[which] = need;
  }
  return static_cast<R*>(held[which].get());
}

// One row times a matrix: nothing is used twice, so nothing is packed. Rows of `b` are added up
// where they are contiguous, else its columns are, and each gives a dot product.
template <class W>
bool row_product(const Strided& s) {
  if (s.m != 1 || (s.b_col != 1 && s.b_row != 1)) return false;
  const W *a = static_cast<const W*>(s.a), *b = static_cast<const W*>(s.b);
  W* __restrict c = static_cast<W*>(s.c);
  if (s.b_col == 1) {
    constexpr int64_t block = 512;
    for (int64_t j0 = 0; j0 < s.n; j0 += block) {
      int64_t width = std::min(block, s.n - j0);
      std::fill_n(c + j0, width, W(0));
      for (int64_t p = 0; p < s.k; ++p) {
        const W* __restrict row = b + p * s.b_row + j0;
        W x = a[p * s.a_col];
        for (int64_t j = 0; j < width; ++j) c[j0 + j] += x * row[j];
      }
    }
    return true;
  }
  constexpr int lanes = 4 * kVectorBytes / sizeof(W);
  for (int64_t j = 0; j < s.n; ++j) {
    const W* column = b + j * s.b_col;
    W sums[lanes] = {}, sum = 0;
    int64_t p = 0;
    if (s.a_col == 1)
      for (; p + lanes <= s.k; p += lanes)
        for (int i = 0; i < lanes; ++i) sums[i] += a[p + i] * column[p + i];
    for (; p < s.k; ++p) sum += a[p * s.a_col] * column[p];
    for (int i = 0; i < lanes; ++i) sum += sums[i];
    c[j] = sum;
  }
  return true;
}

// Products so small that packing their operands takes as long as multiplying.
bool small_product(const Strided& s) {
  constexpr int64_t lanes = Tile<float>::kLanes, most = 64;
  if (s.b_col != 1 || s.n > most || s.k > most || (s.m > most && s.n % lanes)) return false;
  if (s.n < lanes / 2 && s.m * s.k > 1024)
    return false;  // most of each vector would be for nothing
  InPlace a{s.m, s.k, static_cast<const float*>(s.a), s.a_row, s.a_col};
  const float* b = static_cast<const float*>(s.b);
  float* c = static_cast<float*>(s.c);
  int64_t j = 0;
  for (; j + 2 * lanes <= s.n; j += 2 * lanes)
    columns_in_place<2>(a, b + j, s.b_row, c + j, s.c_row);
  for (; j + lanes <= s.n; j += lanes) columns_in_place<1>(a, b + j, s.b_row, c + j, s.c_row);
  if (j == s.n) return true;
  // The last columns fill no vector where they lie.
  alignas(64) float last_b[most * lanes], last_c[most * lanes];
  auto width = static_cast<size_t>(s.n - j);
  for (int64_t p = 0; p < s.k; ++p) {
    std::memcpy(last_b + p * lanes, b + p * s.b_row + j, width * sizeof(float));
    std::fill(last_b + p * lanes + width, last_b + (p + 1) * lanes, 0.f);
  }
  columns_in_place<1>(a, last_b, lanes, last_c, lanes);
  for (int64_t i = 0; i < s.m; ++i)
    std::memcpy(c + i * s.c_row + j, last_c + i * lanes, width * sizeof(float));
  return true;
}

template <class W>
void product(const Strided& s) {
  if constexpr (Parts<W>::kPlanes == 1) {
    if (row_product<W>(s)) return;
    // A column is a row of the transposed product.
    if (s.n == 1 && s.c_row == 1 &&
        row_product<W>(
            {1, s.m, s.k, s.b, s.b_col, s.b_row, s.a, s.a_col, s.a_row, s.c, s.m, false, false}))
      return;
  }
  using R = typename Parts<W>::Real;
  constexpr int planes = Parts<W>::kPlanes, mr = rows<W>(), nr = columns<W>();
  const W *a = static_cast<const W*>(s.a), *b = static_cast<const W*>(s.b);
  W* c = static_cast<W*>(s.c);
  auto up = [](int64_t v, int64_t to) { return (v + to - 1) / to * to; };
  int64_t depth_most = std::min(s.k, kDepth), width_most = up(std::min(s.n, kWidth), nr);
  R* packed_a = scratch<R>(0, up(std::min(s.m, kHeight), mr) * depth_most * planes);
  R* packed_b = scratch<R>(1, width_most * depth_most * planes);
  alignas(64) R acc[mr * nr * planes];
  for (int64_t j0 = 0; j0 < s.n; j0 += kWidth) {
    int64_t width = std::min(kWidth, s.n - j0);
    for (int64_t p0 = 0; p0 < s.k; p0 += kDepth) {
      int64_t depth = std::min(kDepth, s.k - p0);
      pack<W, nr>(b + p0 * s.b_row + j0 * s.b_col, s.b_col, s.b_row, width, depth, s.conj_b,
                  packed_b);
      for (int64_t i0 = 0; i0 < s.m; i0 += kHeight) {
        int64_t height = std::min(kHeight, s.m - i0);
        pack<W, mr>(a + i0 * s.a_row + p0 * s.a_col, s.a_row, s.a_col, height, depth, s.conj_a,
                    packed_a);
        for (int64_t j = 0; j < width; j += nr)
          for (int64_t i = 0; i < height; i += mr) {
            const R* pa = packed_a + i * depth * planes;
            const R* pb = packed_b + j * depth * planes;
            if constexpr (planes == 2)
              tile_product_complex<R>(depth, pa, pb, acc);
            else
              tile_product<R>(depth, pa, pb, acc);
            store_tile<W>(acc, c + (i0 + i) * s.c_row + j0 + j, s.c_row,
                          std::min<int64_t>(mr, height - i), std::min<int64_t>(nr, width - j),
                          p0 > 0);
          }
      }
    }
  }
}

}  // namespace

gemm::GemmTable gemm_table() {
  // Integers wrap as unsigned ones do, whatever their sign.
  return {product<float>,
          product<double>,
          product<uint32_t>,
          product<uint64_t>,
          product<std::complex<float>>,
          product<std::complex<double>>,
          small_product,
          Tile<float>::kLanes};
}

}  // namespace holdfast::HOLDFAST_ISA
