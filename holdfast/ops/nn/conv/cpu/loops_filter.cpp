// What some lines of maps add to the gradient of a filter: a tile of it stays in registers while
// all their positions pass.
#include <algorithm>
#include <array>
#include <utility>

#include "holdfast/ops/linalg/cpu/tile.h"
#include "holdfast/ops/nn/conv/cpu/filter_loops.h"

namespace holdfast::nn::HOLDFAST_ISA {
namespace {

using holdfast::HOLDFAST_ISA::kRows;
using holdfast::HOLDFAST_ISA::kVectorBytes;

typedef float Vec __attribute__((vector_size(kVectorBytes), aligned(alignof(float)), may_alias));
constexpr int kLanes = kVectorBytes / sizeof(float);

template <int height>
void tile(const FilterBlock& b, int64_t first, const float* y, float* to) {
  int64_t row = b.panels * 2 * kLanes;
  Vec sum[height][2];
#pragma GCC unroll 16
  for (int i = 0; i < height; ++i) {
    sum[i][0] = *reinterpret_cast<const Vec*>(to + i * row);
    sum[i][1] = *reinterpret_cast<const Vec*>(to + i * row + kLanes);
  }
  for (int64_t line = 0; line < b.lines; ++line) {
    const float* x = b.x + line * b.x_line + first;
    for (int64_t p = 0; p < b.positions; ++p, x += b.x_step, y += 2 * kLanes) {
      Vec y0 = *reinterpret_cast<const Vec*>(y), y1 = *reinterpret_cast<const Vec*>(y + kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < height; ++i) {
        sum[i][0] += x[i] * y0;
        sum[i][1] += x[i] * y1;
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < height; ++i) {
    *reinterpret_cast<Vec*>(to + i * row) = sum[i][0];
    *reinterpret_cast<Vec*>(to + i * row + kLanes) = sum[i][1];
  }
}

using TileFn = void (*)(const FilterBlock&, int64_t, const float*, float*);
template <int... less>
constexpr std::array<TileFn, sizeof...(less)> tiles_of(std::integer_sequence<int, less...>) {
  return {tile<less + 1>...};
}

void add(const FilterBlock& b) {
  constexpr auto tiles = tiles_of(std::make_integer_sequence<int, kRows>());
  constexpr int64_t width = 2 * kLanes;
  for (int64_t i = 0, height; i < b.run; i += height) {
    // The last two tiles share what is left: a low one has too few sums to work on at a time.
    int64_t left = b.run - i;
    height = left <= kRows ? left : left < 2 * kRows ? (left + 1) / 2 : kRows;
    TileFn f = tiles[static_cast<size_t>(height - 1)];
    for (int64_t j = 0; j < b.panels; ++j)
      f(b, i, b.y + j * b.y_panel, b.sum + (i * b.panels + j) * width);
  }
}

void pack(const float* from, int64_t step, int64_t positions, int64_t some, float* to) {
  constexpr int64_t width = 2 * kLanes;
  for (int64_t p = 0; p < positions; ++p, from += step, to += width) {
    if (some == width) {
      *reinterpret_cast<Vec*>(to) = *reinterpret_cast<const Vec*>(from);
      *reinterpret_cast<Vec*>(to + kLanes) = *reinterpret_cast<const Vec*>(from + kLanes);
    } else {
      for (int64_t j = 0; j < width; ++j) to[j] = j < some ? from[j] : 0.f;
    }
  }
}

void join(const float* from, int64_t step, int64_t count, float* to, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Vec sum = *reinterpret_cast<const Vec*>(from + i);
    for (int64_t k = 1; k < count; ++k) sum += *reinterpret_cast<const Vec*>(from + k * step + i);
    *reinterpret_cast<Vec*>(to + i) = sum;
  }
  for (; i < n; ++i) {
    float sum = from[i];
    for (int64_t k = 1; k < count; ++k) sum += from[k * step + i];
    to[i] = sum;
  }
}

}  // namespace

const FilterLoop filter_loop_{2 * kLanes, kRows, &add, &pack, &join};

}  // namespace holdfast::nn::HOLDFAST_ISA
