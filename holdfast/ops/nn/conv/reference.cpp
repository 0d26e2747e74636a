// Our own convolution kernels, for every dtype and without any library.
//
// They work on images with channels last. The filter is [taps, group_in, out_channels]; each output
// (or input, or filter) element is summed by one thread in a fixed order.
#include <algorithm>
#include <vector>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/ops/nn/conv/cpu/conv_loops.h"
#include "holdfast/ops/nn/conv/shape.h"

namespace holdfast::nn {
namespace {

struct Place {
  int64_t n, d, h, w;
};
Place place_of(int64_t i, const Extent& e) {
  return {i / (e[0] * e[1] * e[2]), i / (e[1] * e[2]) % e[0], i / e[2] % e[1], i % e[2]};
}

// Calls `f(tap, input position)` for every tap that falls inside the image.
template <class F>
void for_taps(const ConvShape& s, const Place& o, F&& f) {
  auto [d0, d1] = s.inside(0, o.d);
  auto [h0, h1] = s.inside(1, o.h);
  auto [w0, w1] = s.inside(2, o.w);
  for (int64_t d = d0; d < d1; ++d)
    for (int64_t h = h0; h < h1; ++h)
      for (int64_t w = w0; w < w1; ++w) {
        int64_t z = o.d * s.stride[0] - s.before[0] + d * s.dilation[0];
        int64_t y = o.h * s.stride[1] - s.before[1] + h * s.dilation[1];
        int64_t x = o.w * s.stride[2] - s.before[2] + w * s.dilation[2];
        f((d * s.size[1] + h) * s.size[2] + w, ((o.n * s.in[0] + z) * s.in[1] + y) * s.in[2] + x);
      }
}

// The output that reads input `i` through tap `t` along `axis`, or -1.
int64_t reader(const ConvShape& s, size_t axis, int64_t i, int64_t t) {
  int64_t at = i + s.before[axis] - t * s.dilation[axis];
  if (at < 0 || at % s.stride[axis]) return -1;
  return at / s.stride[axis] < s.out[axis] ? at / s.stride[axis] : -1;
}

// Calls `f(tap, output position)` for every output that reads input `i`.
template <class F>
void for_readers(const ConvShape& s, const Place& i, F&& f) {
  for (int64_t d = 0; d < s.size[0]; ++d) {
    int64_t z = reader(s, 0, i.d, d);
    for (int64_t h = 0; z >= 0 && h < s.size[1]; ++h) {
      int64_t y = reader(s, 1, i.h, h);
      for (int64_t w = 0; y >= 0 && w < s.size[2]; ++w) {
        int64_t x = reader(s, 2, i.w, w);
        if (x >= 0)
          f((d * s.size[1] + h) * s.size[2] + w,
            ((i.n * s.out[0] + z) * s.out[1] + y) * s.out[2] + x);
      }
    }
  }
}

// Both for positions [begin, end) of what they write.
template <class T>
void forward(const ConvShape& s, const T* image, const T* filter, T* maps, int64_t begin,
             int64_t end) {
  using W = sum_of<T>;
  int64_t gi = s.group_in(), go = s.group_out(), out = s.out_channels;
  const auto& loops = conv_loops<T>();
  std::vector<W> sum(static_cast<size_t>(out));
  for (int64_t p = begin; p < end; ++p) {
    std::fill(sum.begin(), sum.end(), W(0));
    for_taps(s, place_of(p, s.out), [&](int64_t tap, int64_t at) {
      for (int64_t g = 0; g < s.groups; ++g)
        loops.rows(image + at * s.channels + g * gi, gi, filter + tap * gi * out + g * go, out,
                   sum.data() + g * go, go);
    });
    for (int64_t o = 0; o < out; ++o)
      maps[p * out + o] = static_cast<T>(sum[static_cast<size_t>(o)]);
  }
}

template <class T>
void input(const ConvShape& s, T* image, const T* filter, const T* maps, int64_t begin,
           int64_t end) {
  using W = sum_of<T>;
  int64_t gi = s.group_in(), go = s.group_out(), out = s.out_channels;
  const auto& loops = conv_loops<T>();
  std::vector<W> sum(static_cast<size_t>(s.channels));
  for (int64_t p = begin; p < end; ++p) {
    std::fill(sum.begin(), sum.end(), W(0));
    for_readers(s, place_of(p, s.in), [&](int64_t tap, int64_t at) {
      for (int64_t g = 0; g < s.groups; ++g)
        loops.dots(maps + at * out + g * go, go, filter + tap * gi * out + g * go, out,
                   sum.data() + g * gi, gi);
    });
    for (int64_t c = 0; c < s.channels; ++c)
      image[p * s.channels + c] = static_cast<T>(sum[static_cast<size_t>(c)]);
  }
}

// A piece is one tap and a block of input channels: it reads all images, and nobody else adds to
// it.
template <class T>
void filter_of(const ConvShape& s, const T* image, T* filter, const T* maps) {
  using W = sum_of<T>;
  constexpr int64_t kBlock = 16;
  int64_t gi = s.group_in(), go = s.group_out(), out = s.out_channels,
          blocks = (gi + kBlock - 1) / kBlock;
  const auto& loops = conv_loops<T>();
  int64_t work = s.batch * s.positions() * s.groups * go * std::min(kBlock, gi);
  parallel_for(s.taps() * blocks, grain_for(work), [&](int64_t begin, int64_t end) {
    std::vector<W> sum(static_cast<size_t>(std::min(kBlock, gi) * out));
    for (int64_t piece = begin; piece < end; ++piece) {
      int64_t tap = piece / blocks, from = piece % blocks * kBlock,
              count = std::min(kBlock, gi - from);
      Extent t{tap / (s.size[1] * s.size[2]), tap / s.size[2] % s.size[1], tap % s.size[2]};
      std::fill(sum.begin(), sum.end(), W(0));
      for (int64_t p = 0, n = s.batch * s.positions(); p < n; ++p) {
        Place o = place_of(p, s.out);
        int64_t z = o.d * s.stride[0] - s.before[0] + t[0] * s.dilation[0];
        int64_t y = o.h * s.stride[1] - s.before[1] + t[1] * s.dilation[1];
        int64_t x = o.w * s.stride[2] - s.before[2] + t[2] * s.dilation[2];
        if (z < 0 || y < 0 || x < 0 || z >= s.in[0] || y >= s.in[1] || x >= s.in[2]) continue;
        int64_t at = ((o.n * s.in[0] + z) * s.in[1] + y) * s.in[2] + x;
        for (int64_t g = 0; g < s.groups; ++g)
          loops.outer(image + at * s.channels + g * gi + from, count, maps + p * out + g * go, go,
                      sum.data() + g * go, out);
      }
      T* to = filter + (tap * gi + from) * out;
      for (int64_t i = 0; i < count * out; ++i) to[i] = static_cast<T>(sum[static_cast<size_t>(i)]);
    }
  });
}

// [n, rows, cols] -> [n, cols, rows]: between channels last and channels first.
template <class T>
void swap_axes(const T* from, T* to, int64_t n, int64_t rows, int64_t cols) {
  parallel_for(n * rows, grain_for(cols), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* row = from + r * cols;
      T* column = to + r / rows * rows * cols + r % rows;
      for (int64_t c = 0; c < cols; ++c) column[c * rows] = row[c];
    }
  });
}

template <class T>
void run(Call& c, ConvCall& k) {
  ConvShape& s = k.shape;
  Tensor image = k.image, maps = k.maps;
  if (s.channels_first) {
    // The kernels know one layout; the other one is brought there and back.
    image = c.scratch(k.dtype, image.shape());
    maps = c.scratch(k.dtype, maps.shape());
    if (k.pass != Pass::kInput)
      swap_axes(k.image.raw<T>(), image.mutable_raw<T>(), s.batch, s.channels, s.in_positions());
    if (k.pass != Pass::kForward)
      swap_axes(k.maps.raw<T>(), maps.mutable_raw<T>(), s.batch, s.out_channels, s.positions());
  }
  const T *x = image.raw<T>(), *w = k.filter.raw<T>(), *y = maps.raw<T>();
  int64_t positions = s.batch * (k.pass == Pass::kForward ? s.positions() : s.in_positions());
  if (k.pass == Pass::kForward)
    parallel_for(positions, grain_for(s.work()), [&](int64_t begin, int64_t end) {
      forward(s, x, w, maps.mutable_raw<T>(), begin, end);
    });
  else if (k.pass == Pass::kInput)
    parallel_for(positions, grain_for(s.work()), [&](int64_t begin, int64_t end) {
      input(s, image.mutable_raw<T>(), w, y, begin, end);
    });
  else
    filter_of(s, x, k.filter.mutable_raw<T>(), y);
  if (!s.channels_first) return;
  if (k.pass == Pass::kForward)
    swap_axes(y, k.maps.mutable_raw<T>(), s.batch, s.positions(), s.out_channels);
  if (k.pass == Pass::kInput)
    swap_axes(x, k.image.mutable_raw<T>(), s.batch, s.in_positions(), s.channels);
}

}  // namespace

Status run_reference(Call& c, Pass pass, bool depthwise) {
  ConvCall k(c, pass, conv_shape(c.types(), pass, depthwise));
  if (k.dtype == int32)
    run<int32_t>(c, k);
  else
    visit_floats(k.dtype, [&]<class T>(T) { run<T>(c, k); });
  return {};
}

void run_reference_at(const ConvCall& k, int64_t begin, int64_t end) {
  Tensor image = k.image, maps = k.maps;
  if (k.pass == Pass::kForward)
    forward(k.shape, image.raw<float>(), k.filter.raw<float>(), maps.mutable_raw<float>(), begin,
            end);
  else
    input(k.shape, image.mutable_raw<float>(), k.filter.raw<float>(), maps.raw<float>(), begin,
          end);
}

}  // namespace holdfast::nn
