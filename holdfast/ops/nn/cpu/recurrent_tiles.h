// Products of recurrent layers, for the instruction set of the file that includes this. One operand
// stays the same for all steps: it is packed once into panels, and a panel is multiplied while it
// lies in the nearest cache, with a tile of the result in registers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "holdfast/ops/linalg/cpu/tile.h"

namespace holdfast::HOLDFAST_ISA {
namespace {

template <class W>
struct Vector {
  typedef W Type __attribute__((vector_size(kVectorBytes)));
  static constexpr int kLanes = kVectorBytes / sizeof(W);
};
// Columns of a panel: two vectors.
template <class W>
constexpr int64_t kColumns = 2 * Vector<W>::kLanes;
// Rows of a panel that are multiplied at a time: with fewer, tiles begin and end more often than
// the nearest cache gains (256 took 2 % longer than 512).
constexpr int64_t kDepth = 512;

template <class W>
const W* of(const void* p) {
  return static_cast<const W*>(p);
}
template <class W>
W* of(void* p) {
  return static_cast<W*>(p);
}

// Memory of this call, where cache lines begin.
struct Delete {
  void operator()(void* p) const { ::operator delete(p, std::align_val_t(64)); }
};
template <class W>
std::unique_ptr<W[], Delete> room(int64_t n) {
  return std::unique_ptr<W[], Delete>(
      static_cast<W*>(::operator new(static_cast<size_t>(n) * sizeof(W), std::align_val_t(64))));
}

template <class W>
int64_t panels(int64_t n) {
  return (n + kColumns<W> - 1) / kColumns<W>;
}
// Columns with those that fill the last panel.
template <class W>
int64_t padded(int64_t n) {
  return panels<W>(n) * kColumns<W>;
}

// Where the sums of a tile begin: with these rows, that far apart (0: all with the same).
template <class W>
struct Start {
  const W* at;
  int64_t row;
};

// c[rows][kColumns] = start + a[rows][k] x panel[k][kColumns].
template <class W, int rows>
void tile(const W* a, int64_t a_row, const W* panel, int64_t k, Start<W> start, W* c,
          int64_t c_row) {
  using V = typename Vector<W>::Type;
  constexpr int lanes = Vector<W>::kLanes;
  V sum[rows][2];
  const W* at[rows];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    at[i] = a + i * a_row;
    std::memcpy(&sum[i][0], start.at + i * start.row, sizeof(V));
    std::memcpy(&sum[i][1], start.at + i * start.row + lanes, sizeof(V));
  }
  for (int64_t p = 0; p < k; ++p, panel += kColumns<W>) {
    V b0, b1;
    std::memcpy(&b0, panel, sizeof b0);
    std::memcpy(&b1, panel + lanes, sizeof b1);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      sum[i][0] += at[i][p] * b0;
      sum[i][1] += at[i][p] * b1;
    }
  }
  // Unrolled, so that the sums stay in registers all the way.
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    std::memcpy(c + i * c_row, &sum[i][0], sizeof(V));
    std::memcpy(c + i * c_row + lanes, &sum[i][1], sizeof(V));
  }
}

// One row times several panels at once, `panel_step` apart: a panel alone would leave the processor
// waiting for each sum. Sums begin and end `each` apart, but the last one begins with `last`.
template <class W, int count>
void one_row(const W* a, const W* panel, int64_t panel_step, int64_t k, const W* start,
             int64_t each, const W* last, W* c) {
  using V = typename Vector<W>::Type;
  constexpr int lanes = Vector<W>::kLanes;
  V sum[count][2];
#pragma GCC unroll 4
  for (int g = 0; g < count; ++g)
    std::memcpy(sum[g], g + 1 < count ? start + g * each : last, sizeof sum[g]);
  for (int64_t p = 0; p < k; ++p, panel += kColumns<W>) {
#pragma GCC unroll 4
    for (int g = 0; g < count; ++g) {
      V b0, b1;
      std::memcpy(&b0, panel + g * panel_step, sizeof b0);
      std::memcpy(&b1, panel + g * panel_step + lanes, sizeof b1);
      sum[g][0] += a[p] * b0;
      sum[g][1] += a[p] * b1;
    }
  }
#pragma GCC unroll 4
  for (int g = 0; g < count; ++g) {
    std::memcpy(c + g * kColumns<W>, &sum[g][0], sizeof(V));
    std::memcpy(c + g * kColumns<W> + lanes, &sum[g][1], sizeof(V));
  }
}

// The same as `tile` where `a` lies in panels, too: [k / kColumns][a_panel / kColumns][kColumns].
template <class W, int rows>
void tile_of_panels(const W* a, int64_t a_panel, const W* panel, int64_t k, Start<W> start, W* c,
                    int64_t c_row) {
  using V = typename Vector<W>::Type;
  constexpr int lanes = Vector<W>::kLanes;
  V sum[rows][2];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    std::memcpy(&sum[i][0], start.at + i * start.row, sizeof(V));
    std::memcpy(&sum[i][1], start.at + i * start.row + lanes, sizeof(V));
  }
  for (int64_t first = 0; first < k; first += kColumns<W>, a += a_panel)
    for (int64_t p = 0; p < kColumns<W>; ++p, panel += kColumns<W>) {
      V b0, b1;
      std::memcpy(&b0, panel, sizeof b0);
      std::memcpy(&b1, panel + lanes, sizeof b1);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        sum[i][0] += a[i * kColumns<W> + p] * b0;
        sum[i][1] += a[i * kColumns<W> + p] * b1;
      }
    }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    std::memcpy(c + i * c_row, &sum[i][0], sizeof(V));
    std::memcpy(c + i * c_row + lanes, &sum[i][1], sizeof(V));
  }
}

// c[rows][kColumns] (+)= the sum over p of a[p][kRows] x panel[p][kColumns].
template <class W, int rows>
void tile_of_sums(const W* a, const W* panel, int64_t k, bool add, W* c, int64_t c_row) {
  using V = typename Vector<W>::Type;
  constexpr int lanes = Vector<W>::kLanes;
  V sum[rows][2] = {};
  // What was summed before comes while this part is multiplied.
  for (int i = 0; i < rows; ++i) __builtin_prefetch(c + i * c_row, 1);
  for (int64_t p = 0; p < k; ++p, a += kRows, panel += kColumns<W>) {
    V b0, b1;
    std::memcpy(&b0, panel, sizeof b0);
    std::memcpy(&b1, panel + lanes, sizeof b1);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      sum[i][0] += a[i] * b0;
      sum[i][1] += a[i] * b1;
    }
  }
  if (add) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      V old[2];
      std::memcpy(old, c + i * c_row, sizeof old);
      sum[i][0] += old[0];
      sum[i][1] += old[1];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    std::memcpy(c + i * c_row, &sum[i][0], sizeof(V));
    std::memcpy(c + i * c_row + lanes, &sum[i][1], sizeof(V));
  }
}

template <class W>
using TileFn = void (*)(const W*, int64_t, const W*, int64_t, Start<W>, W*, int64_t);
template <class W, int... i>
constexpr std::array<TileFn<W>, sizeof...(i)> tiles_of(std::integer_sequence<int, i...>) {
  return {tile<W, i + 1>...};
}
template <class W>
constexpr auto kTiles = tiles_of<W>(std::make_integer_sequence<int, kRows>());
template <class W, int... i>
constexpr std::array<TileFn<W>, sizeof...(i)> tiles_of_panels(std::integer_sequence<int, i...>) {
  return {tile_of_panels<W, i + 1>...};
}
template <class W>
constexpr auto kTilesOfPanels = tiles_of_panels<W>(std::make_integer_sequence<int, kRows>());

template <class W>
using SumsFn = void (*)(const W*, const W*, int64_t, bool, W*, int64_t);
template <class W, int... i>
constexpr std::array<SumsFn<W>, sizeof...(i)> tiles_of_sums(std::integer_sequence<int, i...>) {
  return {tile_of_sums<W, i + 1>...};
}
template <class W>
constexpr auto kTilesOfSums = tiles_of_sums<W>(std::make_integer_sequence<int, kRows>());

// Cuts rows into tiles of nearly one height: `each(height, first)`.
inline int64_t tiles_for(int64_t rows) { return (rows + kRows - 1) / kRows; }
template <class F>
void for_tiles(int64_t rows, F each) {
  int64_t count = tiles_for(rows);
  for (int64_t t = 0, i = 0; t < count; ++t) {
    int64_t height = rows / count + (t < rows % count ? 1 : 0);
    each(static_cast<size_t>(height), i);
    i += height;
  }
}

// All rows times one panel.
template <class W>
void times_panel(const W* a, int64_t a_row, int64_t rows, const W* panel, int64_t k, Start<W> start,
                 W* c, int64_t c_row) {
  for_tiles(rows, [&](size_t height, int64_t i) {
    kTiles<W>[height - 1](a + i* a_row, a_row, panel, k, {start.at + i * start.row, start.row},
                          c + i* c_row, c_row);
  });
}

// c[rows][n] = a[rows][k] x packed, where `a` lies in panels `a_panel` apart, and k is a multiple
// of their columns; `strip` has room for rows x kColumns.
template <class W>
void times(const W* a, int64_t a_panel, int64_t rows, const W* packed, int64_t k, int64_t n, W* c,
           int64_t c_row, W* strip) {
  alignas(64) const W none[kColumns<W>] = {};
  for (int64_t j = 0; j < n; j += kColumns<W>) {
    int64_t width = std::min(kColumns<W>, n - j);
    bool whole = width == kColumns<W>;
    W* to = whole ? c + j : strip;
    int64_t to_row = whole ? c_row : kColumns<W>;
    Start<W> start{none, 0};
    for (int64_t p = 0; p < k; p += kDepth, start = {to, to_row}) {
      int64_t depth = std::min(kDepth, k - p);
      const W* from = a + p / kColumns<W> * a_panel;
      for_tiles(rows, [&](size_t height, int64_t i) {
        kTilesOfPanels<W>[height - 1](from + i* kColumns<W>, a_panel, packed, depth,
                                      {start.at + i * start.row, start.row}, to + i* to_row,
                                      to_row);
      });
      packed += depth * kColumns<W>;
    }
    if (!whole)
      for (int64_t i = 0; i < rows; ++i)
        std::copy_n(strip + i * kColumns<W>, width, c + i * c_row + j);
  }
}

}  // namespace
}  // namespace holdfast::HOLDFAST_ISA
