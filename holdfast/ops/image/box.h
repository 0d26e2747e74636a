// A box around something in an image, as kernels see it.
#pragma once

#include <algorithm>

namespace holdfast::image {

/// Made of [top, left, bottom, right], of which the first two may be the larger ones.
struct Box {
  float top, left, bottom, right;
  explicit Box(const float* at)
      : top(std::min(at[0], at[2])),
        left(std::min(at[1], at[3])),
        bottom(std::max(at[0], at[2])),
        right(std::max(at[1], at[3])) {}
  float area() const { return (bottom - top) * (right - left); }
};

/// What two boxes have in common.
inline float shared_area(const Box& a, const Box& b) {
  float height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.f);
  float width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.f);
  return height * width;
}

/// The same as a share of what both cover.
inline float overlap(const Box& a, const Box& b) {
  if (a.area() <= 0 || b.area() <= 0) return 0;
  float shared = shared_area(a, b);
  return shared / (a.area() + b.area() - shared);
}

}  // namespace holdfast::image
