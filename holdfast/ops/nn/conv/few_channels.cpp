// The gradient of an image with few channels (the first layer of a network).
//
// Libraries compute sixteen channels at a time there and throw most of them away. Here the sixteen
// lanes hold taps instead: one product of maps and filter gives what every output sends to each of
// its taps, and those are then added where they belong.
#include <algorithm>
#include <cstring>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/ops/nn/conv/cpu/conv_loops.h"
#include "holdfast/ops/nn/conv/shape.h"

namespace holdfast::nn {
namespace {

constexpr int64_t kMostSlots = 8 * kColumns;  // taps times channels

// Adds what the outputs of one row send, `sent` [blocks, columns, 16 slots], to an image: tap by
// tap, so that the inner loop runs along the row.
void add_row(const ConvShape& s, const float* sent, int64_t block_size, float* image, int64_t d,
             int64_t h) {
  int64_t c = s.channels;
  auto [d0, d1] = s.inside(0, d);
  auto [h0, h1] = s.inside(1, h);
  for (int64_t td = d0; td < d1; ++td)
    for (int64_t th = h0; th < h1; ++th) {
      int64_t z = d * s.stride[0] - s.before[0] + td * s.dilation[0],
              y = h * s.stride[1] - s.before[1] + th * s.dilation[1];
      float* line = image + (z * s.in[1] + y) * s.in[2] * c;
      for (int64_t tw = 0; tw < s.size[2]; ++tw) {
        // The outputs whose tap falls inside the line: 0 <= w * step - start < in.
        int64_t step = s.stride[2], start = s.before[2] - tw * s.dilation[2];
        int64_t first = start > 0 ? (start + step - 1) / step : 0;
        int64_t last =
            s.in[2] + start > 0 ? std::min(s.out[2], (s.in[2] + start - 1) / step + 1) : 0;
        int64_t slot = ((td * s.size[1] + th) * s.size[2] + tw) * c;
        for (int64_t i = 0; i < c; ++i, ++slot) {
          const float* from = sent + slot / kColumns * block_size + slot % kColumns;
          for (int64_t w = first; w < last; ++w)
            line[(w * step - start) * c + i] += from[w * kColumns];
        }
      }
    }
}

}  // namespace

const char* refuse_few_channels(const Types& t, Pass pass, bool depthwise) {
  if (t.out_dtype() != float32) return "dtype";
  ConvShape s = conv_shape(t, pass, depthwise);
  if (s.channels_first) return "channels come first";
  if (s.groups != 1) return "groups";
  if (s.channels > 4) return "the image has more than 4 channels";
  if (s.taps() * s.channels > kMostSlots) return "the filter is large";
  return nullptr;
}

Status run_few_channels(Call& c, Pass pass, bool depthwise) {
  ConvCall k(c, pass, conv_shape(c.types(), pass, depthwise));
  const ConvShape& s = k.shape;
  int64_t slots = s.taps() * s.channels, blocks = (slots + kColumns - 1) / kColumns,
          n = s.out_channels;
  // The filter [slots, n] turned to [blocks, n, 16], with zeros in the lanes beyond the last slot.
  Tensor turned = c.scratch(float32, Shape{blocks, n, kColumns});
  float* w = turned.mutable_raw<float>();
  std::memset(w, 0, static_cast<size_t>(turned.bytes()));
  const float* filter = k.filter.raw<float>();
  for (int64_t i = 0; i < slots; ++i)
    for (int64_t o = 0; o < n; ++o)
      w[(i / kColumns * n + o) * kColumns + i % kColumns] = filter[i * n + o];
  float* image = k.image.mutable_raw<float>();
  const float* maps = k.maps.raw<float>();
  int64_t image_size = s.in_positions() * s.channels, row = s.out[2], block_size = row * kColumns;
  ColumnsLoop columns = columns_loop();
  // Outputs overlap in the image, so an image is one thread's.
  int64_t work = s.positions() * blocks * n;  // columns of 16 numbers at once
  parallel_for(s.batch, grain_for(work), [&](int64_t begin, int64_t end) {
    Tensor scratch = c.scratch(float32, Shape{blocks, block_size});
    float* sent = scratch.mutable_raw<float>();
    for (int64_t b = begin; b < end; ++b) {
      float* to = image + b * image_size;
      std::memset(to, 0, static_cast<size_t>(image_size) * sizeof(float));
      for (int64_t r = 0; r < s.out[0] * s.out[1]; ++r) {
        const float* y = maps + (b * s.positions() + r * row) * n;
        for (int64_t i = 0; i < blocks; ++i)
          columns(y, row, n, w + i * n * kColumns, sent + i * block_size);
        add_row(s, sent, block_size, to, r / s.out[1], r % s.out[1]);
      }
    }
  });
  return {};
}

}  // namespace holdfast::nn
