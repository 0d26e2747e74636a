// Winograd's transforms and the products between them.
//
// The points are 0, 5/8, -5/8, 3/2, -3/2 and infinity along each axis. Those found in most texts,
// 0, 1, -1, 2, -2, make the result's rounding error 3.7 times that of the definition (root of mean
// squares, 64 channels), these 1.7 times.
#include <cstring>

#include "holdfast/ops/linalg/cpu/tile_in_place.h"
#include "holdfast/ops/nn/conv/cpu/winograd_loops.h"

namespace holdfast::nn::HOLDFAST_ISA {
namespace {

using holdfast::HOLDFAST_ISA::columns_in_place;
using holdfast::HOLDFAST_ISA::InPlace;
using holdfast::HOLDFAST_ISA::kTileLanes;

template <int lanes>
struct Lanes {
  typedef float Vec __attribute__((vector_size(lanes * sizeof(float))));
};

constexpr double kP = 5.0 / 8, kQ = 3.0 / 2, kP2 = kP * kP, kQ2 = kQ * kQ;
// The filter's share of what each point is weighed with.
constexpr double kAt0 = 1 / (kP2 * kQ2), kAtP = 1 / (2 * kP2 * (kP2 - kQ2)),
                 kAtQ = 1 / (2 * kQ2 * (kQ2 - kP2));
constexpr float f(double v) { return static_cast<float>(v); }

// Each evaluates or interpolates along one axis. Points of either sign share their even and odd
// parts.
struct Image {
  static constexpr int kIn = 6, kOut = 6;
  template <class V>
  static void apply(const V* d, V* to) {
    V even_p = d[4] - f(kQ2) * d[2], odd_p = f(kP) * d[3] - f(kP * kQ2) * d[1];
    V even_q = d[4] - f(kP2) * d[2], odd_q = f(kQ) * d[3] - f(kQ * kP2) * d[1];
    to[0] = d[4] - f(kP2 + kQ2) * d[2] + f(kP2 * kQ2) * d[0];
    to[1] = even_p + odd_p;
    to[2] = even_p - odd_p;
    to[3] = even_q + odd_q;
    to[4] = even_q - odd_q;
    to[5] = d[5] - f(kP2 + kQ2) * d[3] + f(kP2 * kQ2) * d[1];
  }
};

struct Filter {
  static constexpr int kIn = 3, kOut = 6;
  template <class V>
  static void apply(const V* w, V* to) {
    V even_p = f(kAtP) * w[0] + f(kAtP * kP2) * w[2], odd_p = f(kAtP * kP) * w[1];
    V even_q = f(kAtQ) * w[0] + f(kAtQ * kQ2) * w[2], odd_q = f(kAtQ * kQ) * w[1];
    to[0] = f(kAt0) * w[0];
    to[1] = even_p + odd_p;
    to[2] = even_p - odd_p;
    to[3] = even_q + odd_q;
    to[4] = even_q - odd_q;
    to[5] = w[2];
  }
};

struct Maps {
  static constexpr int kIn = 6, kOut = 4;
  template <class V>
  static void apply(const V* m, V* to) {
    V even_p = m[1] + m[2], odd_p = m[1] - m[2], even_q = m[3] + m[4], odd_q = m[3] - m[4];
    to[0] = m[0] + (even_p + even_q);
    to[1] = f(kP) * odd_p + f(kQ) * odd_q;
    to[2] = f(kP2) * even_p + f(kQ2) * even_q;
    to[3] = f(kP2 * kP) * odd_p + f(kQ2 * kQ) * odd_q + m[5];
  }
};

// The last two turned around.
struct MapsBack {
  static constexpr int kIn = 4, kOut = 6;
  template <class V>
  static void apply(const V* m, V* to) {
    V even_p = m[0] + f(kP2) * m[2], odd_p = f(kP) * m[1] + f(kP2 * kP) * m[3];
    V even_q = m[0] + f(kQ2) * m[2], odd_q = f(kQ) * m[1] + f(kQ2 * kQ) * m[3];
    to[0] = m[0];
    to[1] = even_p + odd_p;
    to[2] = even_p - odd_p;
    to[3] = even_q + odd_q;
    to[4] = even_q - odd_q;
    to[5] = m[3];
  }
};

struct FilterBack {
  static constexpr int kIn = 6, kOut = 3;
  template <class V>
  static void apply(const V* m, V* to) {
    V even_p = f(kAtP) * (m[1] + m[2]), even_q = f(kAtQ) * (m[3] + m[4]);
    to[0] = f(kAt0) * m[0] + (even_p + even_q);
    to[1] = f(kAtP * kP) * (m[1] - m[2]) + f(kAtQ * kQ) * (m[3] - m[4]);
    to[2] = m[5] + (f(kP2) * even_p + f(kQ2) * even_q);
  }
};

// Along both axes: `in(row, column)` gives what `out(row, column, value)` takes.
template <class Axis, class V, class In, class Out>
[[gnu::always_inline]] inline void transform(In&& in, Out&& out) {
  V half[Axis::kOut][Axis::kIn];
#pragma GCC unroll 6
  for (int x = 0; x < Axis::kIn; ++x) {
    V column[Axis::kIn], to[Axis::kOut];
#pragma GCC unroll 6
    for (int y = 0; y < Axis::kIn; ++y) column[y] = in(y, x);
    Axis::apply(column, to);
#pragma GCC unroll 6
    for (int y = 0; y < Axis::kOut; ++y) half[y][x] = to[y];
  }
#pragma GCC unroll 6
  for (int y = 0; y < Axis::kOut; ++y) {
    V to[Axis::kOut];
    Axis::apply(half[y], to);
#pragma GCC unroll 6
    for (int x = 0; x < Axis::kOut; ++x) out(y, x, to[x]);
  }
}

template <class V>
V load(const float* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class V>
void store(float* to, V v) {
  std::memcpy(to, &v, sizeof v);
}

// Calls `f` with a vector's type and place, for `n` floats: whole vectors, then shorter ones.
template <class F>
void for_vectors(int64_t n, F&& call) {
  int64_t i = 0;
  for (; i + kTileLanes <= n; i += kTileLanes) call(typename Lanes<kTileLanes>::Vec{}, i);
  for (; i < n; i += 4) call(Lanes<4>::Vec{}, i);
}

void spread_image(const float* from, int64_t line, int64_t pixel, int64_t n, float* to,
                  int64_t plane) {
  for_vectors(n, [&]<class V>(V, int64_t i) {
    transform<Image, V>([&](int y, int x) { return load<V>(from + y * line + x * pixel + i); },
                        [&](int y, int x, V v) { store<V>(to + (y * 6 + x) * plane + i, v); });
  });
}

void spread_filter(const float* from, int64_t step, int64_t n, float* to, int64_t plane,
                   int64_t panel) {
  constexpr int64_t width = 2 * kTileLanes;
  for_vectors(n, [&]<class V>(V, int64_t i) {
    float* place = to + i / width * panel + i % width;
    transform<Filter, V>([&](int y, int x) { return load<V>(from + (y * 3 + x) * step + i); },
                         [&](int y, int x, V v) { store<V>(place + (y * 6 + x) * plane, v); });
  });
}

void multiply(const float* image, int64_t tiles, int64_t n, const float* filter, int64_t columns,
              float* products) {
  constexpr int64_t width = 2 * kTileLanes;
  int64_t row = (columns + width - 1) / width * width;
  InPlace left{.m = tiles, .k = n, .a = image, .a_row = n, .a_col = 1};
  for (int64_t j = 0; j < columns; j += width)
    if (columns - j > kTileLanes)
      columns_in_place<2>(left, filter + j * n, width, products + j, row);
    else
      columns_in_place<1>(left, filter + j * n, width, products + j, row);
}

// Whether all that was added is finite: what is not gives NaN, times 0.
class Finite {
 public:
  template <class V>
  void add(const V& zeros) {
    if constexpr (sizeof(V) == sizeof whole_)
      whole_ += zeros;
    else
      last_ += zeros;
  }
  bool all() const {
    bool all = true;
    for (int i = 0; i < kTileLanes; ++i) all &= whole_[i] == 0;
    for (int i = 0; i < 4; ++i) all &= last_[i] == 0;
    return all;
  }

 private:
  Lanes<kTileLanes>::Vec whole_{};
  Lanes<4>::Vec last_{};
};

bool gather_maps(const float* from, int64_t plane, int64_t n, float* to, int64_t line, int64_t rows,
                 int64_t columns) {
  Finite finite;
  for_vectors(n, [&]<class V>(V, int64_t i) {
    V zeros{};
    auto read = [&](int y, int x) { return load<V>(from + (y * 6 + x) * plane + i); };
    if (rows == 4 && columns == 4)
      transform<Maps, V>(read, [&](int y, int x, V v) {
        store<V>(to + y * line + x * n + i, v);
        zeros += v * 0.f;
      });
    else
      transform<Maps, V>(read, [&](int y, int x, V v) {
        if (y < rows && x < columns) store<V>(to + y * line + x * n + i, v);
        zeros += v * 0.f;
      });
    finite.add(zeros);
  });
  return finite.all();
}

void spread_maps(const float* from, int64_t line, int64_t n, float* to, int64_t plane,
                 int64_t panel) {
  constexpr int64_t width = 2 * kTileLanes;
  for_vectors(n, [&]<class V>(V, int64_t i) {
    float* place = to + i / width * panel + i % width;
    transform<MapsBack, V>([&](int y, int x) { return load<V>(from + y * line + x * n + i); },
                           [&](int y, int x, V v) { store<V>(place + (y * 6 + x) * plane, v); });
  });
}

bool gather_filter(const float* from, int64_t plane, int64_t n, float* to, int64_t step) {
  Finite finite;
  for_vectors(n, [&]<class V>(V, int64_t i) {
    V zeros{};
    transform<FilterBack, V>([&](int y, int x) { return load<V>(from + (y * 6 + x) * plane + i); },
                             [&](int y, int x, V v) {
                               store<V>(to + (y * 3 + x) * step + i, v);
                               zeros += v * 0.f;
                             });
    finite.add(zeros);
  });
  return finite.all();
}

}  // namespace

const WinogradLoops winograd_loops_{2 * kTileLanes, &spread_image, &spread_filter, &multiply,
                                    &gather_maps,   &spread_maps,  &gather_filter};

}  // namespace holdfast::nn::HOLDFAST_ISA
