// The inner loops of Winograd's convolutions, compiled once per instruction set.
//
// A convolution of 3x3 is a product of polynomials. Tiles of 6x6 positions of an image and filters
// are evaluated at 36 points (`spread`), multiplied there, and what is interpolated from the
// products are 4x4 maps (`gather`): 36 multiplications where the definition has 144.
#pragma once

#include <cstdint>

#include "holdfast/expr/cpu/instruction_sets.h"

namespace holdfast::nn {

inline constexpr int64_t kWinogradPoints = 36, kWinogradTile = 4, kWinogradReach = 6;

/// Positions hold `n` floats; rows of positions are `line` floats apart.
struct WinogradLoops {
  int64_t width;  // floats of a panel of filters, or maps
  /// 6x6 positions of an image, `pixel` floats apart, at 36 points, each `plane` floats apart. `n`
  /// are multiples of 4.
  void (*spread_image)(const float* from, int64_t line, int64_t pixel, int64_t n, float* to,
                       int64_t plane);
  /// 3x3 filters, taps `step` apart; `to` are panels, one `panel` floats after the other.
  void (*spread_filter)(const float* from, int64_t step, int64_t n, float* to, int64_t plane,
                        int64_t panel);
  /// products[tiles, panels * width] = image[tiles, n] * filter[panels, n, width], at least its
  /// first `columns`.
  void (*multiply)(const float* image, int64_t tiles, int64_t n, const float* filter,
                   int64_t columns, float* products);
  /// Maps of the first `rows` x `columns` positions of a tile. False: not all are finite.
  bool (*gather_maps)(const float* from, int64_t plane, int64_t n, float* to, int64_t line,
                      int64_t rows, int64_t columns);
  /// What both do turned around, for the gradient of a filter: 4x4 maps, `n` floats apart, at 36
  /// points, in panels; and 3x3 taps, `step` apart, from products. False: not all are finite.
  void (*spread_maps)(const float* from, int64_t line, int64_t n, float* to, int64_t plane,
                      int64_t panel);
  bool (*gather_filter)(const float* from, int64_t plane, int64_t n, float* to, int64_t step);
};

#define HOLDFAST_DECLARE(isa)                 \
  namespace isa {                             \
  extern const WinogradLoops winograd_loops_; \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE)
#undef HOLDFAST_DECLARE

}  // namespace holdfast::nn
