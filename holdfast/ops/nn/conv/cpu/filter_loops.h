// The inner loop of the gradient of a filter, compiled once per instruction set.
#pragma once

#include <cstdint>

#include "holdfast/expr/cpu/instruction_sets.h"

namespace holdfast::nn {

/// Some lines of maps, and the lines of an image that one row of taps meets there.
struct FilterBlock {
  const float* x;   // what the first tap meets at the first position
  int64_t x_step;   // floats from there to what it meets at the next position,
  int64_t x_line;   // and at the first one of the next line
  int64_t run;      // floats side by side: channels, or taps of a row times channels
  const float* y;   // maps, packed: [panels, lines, positions, width]
  int64_t y_panel;  // floats from one panel to the next
  int64_t lines, positions;
  float* sum;  // [run, panels * width], which is added to
  int64_t panels;
};

struct FilterLoop {
  int64_t width;   // maps of a panel
  int64_t height;  // floats of a run that are worked on at a time
  void (*add)(const FilterBlock&);
  /// Copies a panel's maps, `some` of `width`, of as many positions; zeros fill it up.
  void (*pack)(const float* from, int64_t step, int64_t positions, int64_t some, float* to);
  /// to[i] = the sum of `count` floats that lie `step` apart, from from[i] on.
  void (*join)(const float* from, int64_t step, int64_t count, float* to, int64_t n);
};

#define HOLDFAST_DECLARE(isa)           \
  namespace isa {                       \
  extern const FilterLoop filter_loop_; \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE)
#undef HOLDFAST_DECLARE

}  // namespace holdfast::nn
