// How pixels of a resized image are made of those of the one it is made of, along one axis.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace holdfast::image {

/// Pixel `i` of the result is the sum of `weight(i)[k]` times pixel `first[i] + k`, for k below
/// `count[i]`.
struct Taps {
  int64_t in = 0;
  int most = 0;  // the largest count
  std::vector<int64_t> first;
  std::vector<int> count;
  std::vector<float> weights;
  int64_t out() const { return static_cast<int64_t>(first.size()); }
  const float* weight(int64_t i) const { return weights.data() + i * most; }
};

/// Where pixels of the result lie among the others.
struct Grid {
  bool align_corners = false;       // the centres of the corner pixels are the same
  bool half_pixel_centers = false;  // a pixel's centre is half a pixel from its edge
  float scale(int64_t in, int64_t out) const;
  float place(int64_t i, float scale) const;
  /// The pixel that is nearest to pixel `i` of the result.
  int64_t nearest(int64_t i, float scale, int64_t in) const;
};

/// Between the two pixels beside it: both, and how far it is from the first.
struct Between {
  int64_t lower, upper;
  float share;
};
std::vector<Between> linear_places(const Grid& grid, int64_t in, int64_t out);

Taps linear_taps(const Grid& grid, int64_t in, int64_t out);
/// TensorFlow's: coefficients are looked up in a table of 1024 places between two pixels.
Taps cubic_taps(const Grid& grid, int64_t in, int64_t out);
/// The mean of the area that a pixel covers.
Taps area_taps(const Grid& grid, int64_t in, int64_t out);

/// A filter by its name: "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic",
/// "mitchellcubic"; null for another name.
struct Filter {
  const char* name;
  float radius;
  float (*at)(float distance);
};
const Filter* filter_named(std::string_view name);
/// `filter` around the place that `x * scale + translation` comes from; wider where the image gets
/// smaller and `antialias` is set. What lies outside of the image is black.
Taps filter_taps(const Filter& filter, bool antialias, float scale, float translation, int64_t in,
                 int64_t out);

}  // namespace holdfast::image
