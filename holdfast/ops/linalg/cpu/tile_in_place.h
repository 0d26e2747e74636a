// Products of matrices whose operands are read where they lie, for the instruction set of the file
// that includes this: a tile of the result stays in registers.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "holdfast/ops/linalg/cpu/tile.h"

namespace holdfast::HOLDFAST_ISA {

typedef float TileVec __attribute__((vector_size(kVectorBytes)));
constexpr int kTileLanes = kVectorBytes / sizeof(float);

/// The left operand, [m, k]; of the right one rows are contiguous.
struct InPlace {
  int64_t m, k;
  const float* a;
  int64_t a_row, a_col;
};

template <int height, int vectors>
void tile_in_place(const InPlace& s, const float* a, const float* b, int64_t b_row, float* c,
                   int64_t c_row) {
  TileVec sum[height][vectors] = {};
  for (int64_t p = 0; p < s.k; ++p, a += s.a_col, b += b_row) {
    TileVec row[vectors];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) std::memcpy(&row[j], b + j * kTileLanes, sizeof(TileVec));
#pragma GCC unroll 16
    for (int i = 0; i < height; ++i) {
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) sum[i][j] += a[i * s.a_row] * row[j];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < height; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j)
      std::memcpy(c + i * c_row + j * kTileLanes, &sum[i][j], sizeof(TileVec));
  }
}

using TileInPlace = void (*)(const InPlace&, const float*, const float*, int64_t, float*, int64_t);
template <int vectors, int... less>
constexpr std::array<TileInPlace, sizeof...(less)> tiles_in_place(
    std::integer_sequence<int, less...>) {
  return {tile_in_place<less + 1, vectors>...};
}

// All rows of some columns. The last two tiles share what is left: a low one has too few sums for
// the processor to work on at a time.
template <int vectors>
void columns_in_place(const InPlace& s, const float* b, int64_t b_row, float* c, int64_t c_row) {
  constexpr auto tiles = tiles_in_place<vectors>(std::make_integer_sequence<int, kRows>());
  for (int64_t i = 0, height; i < s.m; i += height) {
    int64_t left = s.m - i;
    height = left <= kRows ? left : left < 2 * kRows ? (left + 1) / 2 : kRows;
    tiles[static_cast<size_t>(height - 1)](s, s.a + i * s.a_row, b, b_row, c + i * c_row, c_row);
  }
}

}  // namespace holdfast::HOLDFAST_ISA
