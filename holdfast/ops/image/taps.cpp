#include "holdfast/ops/image/taps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace holdfast::image {
namespace {

// Collects the weights of one pixel after the other; places outside of the image are its edge.
class Collected {
 public:
  Collected(int64_t in, int64_t out, int most) {
    taps_.in = in;
    taps_.most = most;
    taps_.first.assign(static_cast<size_t>(out), 0);
    taps_.count.assign(static_cast<size_t>(out), 0);
    taps_.weights.assign(static_cast<size_t>(out) * static_cast<size_t>(most), 0.f);
  }
  /// Places come in ascending order.
  void add(int64_t i, int64_t place, float weight) {
    auto at = static_cast<size_t>(i);
    place = std::clamp<int64_t>(place, 0, taps_.in - 1);
    if (taps_.count[at] == 0) taps_.first[at] = place;
    auto k = static_cast<int>(place - taps_.first[at]);
    taps_.weights[at * static_cast<size_t>(taps_.most) + static_cast<size_t>(k)] += weight;
    taps_.count[at] = std::max(taps_.count[at], k + 1);
  }
  Taps take() { return std::move(taps_); }

 private:
  Taps taps_;
};

constexpr int kTable = 1024;
using CubicTable = std::array<float, (kTable + 1) * 2>;

// The two arms of a cubic convolution with parameter `a`: below a distance of 1, and from there
// to 2.
CubicTable cubic_table(float a) {
  CubicTable table;
  for (size_t i = 0; i <= kTable; ++i) {
    float x = static_cast<float>(i) / kTable;
    table[i * 2] = ((a + 2) * x - (a + 3)) * x * x + 1;
    x += 1;
    table[i * 2 + 1] = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  }
  return table;
}

bool is_weighty(float sum) { return std::abs(sum) >= 1000.f * std::numeric_limits<float>::min(); }

template <int kRadius>
float lanczos(float x) {
  constexpr float pi = std::numbers::pi_v<float>;
  x = std::abs(x);
  if (x > kRadius) return 0;
  if (x <= 1e-3f) return 1;
  return kRadius * std::sin(pi * x) * std::sin(pi * x / kRadius) / (pi * pi * x * x);
}
float gaussian(float x) {
  constexpr float radius = 1.5f, sigma = radius / 3;
  x = std::abs(x);
  return x >= radius ? 0 : std::exp(-x * x / (2 * sigma * sigma));
}
float box(float x) {
  x = std::abs(x);
  return x < 0.5f ? 1.f : x == 0.5f ? 0.5f : 0.f;
}
float triangle(float x) { return std::max(0.f, 1 - std::abs(x)); }
float keys_cubic(float x) {
  x = std::abs(x);
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4) * x + 2;
  return ((1.5f * x - 2.5f) * x) * x + 1;
}
float mitchell_cubic(float x) {
  x = std::abs(x);
  if (x >= 2) return 0;
  if (x >= 1) return (((-7.f / 18) * x + 2) * x - 10.f / 3) * x + 16.f / 9;
  return (((7.f / 6) * x - 2) * x) * x + 8.f / 9;
}

constexpr Filter kFilters[] = {{"lanczos3", 3, lanczos<3>},         {"lanczos5", 5, lanczos<5>},
                               {"gaussian", 1.5f, gaussian},        {"box", 1, box},
                               {"triangle", 1, triangle},           {"keyscubic", 2, keys_cubic},
                               {"mitchellcubic", 2, mitchell_cubic}};

}  // namespace

float Grid::scale(int64_t in, int64_t out) const {
  if (align_corners && out > 1) return static_cast<float>(in - 1) / static_cast<float>(out - 1);
  return static_cast<float>(in) / static_cast<float>(out);
}

float Grid::place(int64_t i, float scale) const {
  auto x = static_cast<float>(i);
  return half_pixel_centers ? (x + 0.5f) * scale - 0.5f : x * scale;
}

int64_t Grid::nearest(int64_t i, float scale, int64_t in) const {
  float x =
      half_pixel_centers ? (static_cast<float>(i) + 0.5f) * scale : static_cast<float>(i) * scale;
  auto at = static_cast<int64_t>(align_corners ? std::round(x) : std::floor(x));
  return std::clamp<int64_t>(at, 0, in - 1);
}

std::vector<Between> linear_places(const Grid& grid, int64_t in, int64_t out) {
  std::vector<Between> all(static_cast<size_t>(out));
  float scale = grid.scale(in, out);
  for (int64_t i = 0; i < out; ++i) {
    float at = grid.place(i, scale), below = std::floor(at);
    all[static_cast<size_t>(i)] = {
        std::clamp<int64_t>(static_cast<int64_t>(below), 0, in - 1),
        std::clamp<int64_t>(static_cast<int64_t>(std::ceil(at)), 0, in - 1), at - below};
  }
  return all;
}

Taps linear_taps(const Grid& grid, int64_t in, int64_t out) {
  Collected taps(in, out, 2);
  std::vector<Between> places = linear_places(grid, in, out);
  for (int64_t i = 0; i < out; ++i) {
    const Between& p = places[static_cast<size_t>(i)];
    taps.add(i, p.lower, 1 - p.share);
    taps.add(i, p.upper, p.share);
  }
  return taps.take();
}

Taps cubic_taps(const Grid& grid, int64_t in, int64_t out) {
  static const CubicTable plain = cubic_table(-0.75f), keys = cubic_table(-0.5f);
  bool bounded = grid.half_pixel_centers;  // pixels outside of the image count for nothing
  const CubicTable& table = bounded ? keys : plain;
  Collected taps(in, out, 4);
  float scale = grid.scale(in, out);
  for (int64_t i = 0; i < out; ++i) {
    float at = grid.place(i, scale), below = std::floor(at);
    auto place = static_cast<int64_t>(below);
    auto offset = static_cast<size_t>(std::lrint((at - below) * kTable));
    float weight[4] = {table[offset * 2 + 1], table[offset * 2], table[(kTable - offset) * 2],
                       table[(kTable - offset) * 2 + 1]};
    if (bounded) {
      float sum = 0;
      for (int k = 0; k < 4; ++k) {
        int64_t p = place + k - 1;
        if (p < 0 || p >= in) weight[k] = 0;
        sum += weight[k];
      }
      if (is_weighty(sum))
        for (float& w : weight) w *= 1 / sum;
    }
    for (int k = 0; k < 4; ++k) taps.add(i, place + k - 1, weight[k]);
  }
  return taps.take();
}

Taps area_taps(const Grid& grid, int64_t in, int64_t out) {
  float scale = grid.scale(in, out);
  auto most = static_cast<int>(std::min<int64_t>(in, static_cast<int64_t>(std::ceil(scale)) + 2));
  Collected taps(in, out, most);
  for (int64_t i = 0; i < out; ++i) {
    float from = static_cast<float>(i) * scale, to = static_cast<float>(i + 1) * scale;
    auto begin = static_cast<int64_t>(std::floor(from)), end = static_cast<int64_t>(std::ceil(to));
    for (int64_t k = begin; k < end; ++k) {
      auto left = static_cast<float>(k), right = static_cast<float>(k + 1);
      float covered =
          left < from ? (right > to ? scale : right - from) : (right > to ? to - left : 1.f);
      taps.add(i, k, covered / scale);
    }
  }
  return taps.take();
}

const Filter* filter_named(std::string_view name) {
  for (const Filter& f : kFilters)
    if (name == f.name) return &f;
  return nullptr;
}

Taps filter_taps(const Filter& filter, bool antialias, float scale, float translation, int64_t in,
                 int64_t out) {
  float inverse = 1 / scale, shift = -inverse * translation;
  float wide = antialias ? std::max(inverse, 1.f) : 1.f;
  float reach = filter.radius * wide;
  // No more taps than the image has pixels: a huge reach is no huge table.
  auto most =
      static_cast<int>(reach < static_cast<float>(in)
                           ? std::min<int64_t>(2 * static_cast<int64_t>(std::ceil(reach)) + 1, in)
                           : in);
  Collected taps(in, out, most);
  std::vector<float> weights;
  for (int64_t i = 0; i < out; ++i) {
    float at = (static_cast<float>(i) + 0.5f) * inverse + shift;
    if (!(at >= 0 && at <= static_cast<float>(in))) continue;
    auto begin = static_cast<int64_t>(std::max(0.f, std::ceil(at - reach - 0.5f)));
    auto end =
        static_cast<int64_t>(std::min(static_cast<float>(in - 1), std::floor(at + reach - 0.5f)));
    weights.clear();
    float sum = 0;
    for (int64_t k = begin; k <= end; ++k) {
      weights.push_back(filter.at((static_cast<float>(k) + 0.5f - at) / wide));
      sum += weights.back();
    }
    if (!is_weighty(sum)) continue;
    for (size_t k = 0; k < weights.size(); ++k)
      taps.add(i, begin + static_cast<int64_t>(k), weights[k] / sum);
  }
  return taps.take();
}

}  // namespace holdfast::image
