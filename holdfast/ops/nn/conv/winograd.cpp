// Convolutions of 3x3 with a step of 1, and the gradients of their images, which are such
// convolutions again: Winograd's, with a fourth of the multiplications.
//
// Some tiles at a time are spread over 36 points, multiplied there by the filter, which was spread
// once, and gathered: all of it in the second cache. Everything is cut by sizes alone and a tile's
// result does not depend on its neighbours in a block, so bits depend on neither batch nor threads.
#include "holdfast/ops/nn/conv/winograd.h"

#include <algorithm>
#include <cstring>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"

namespace holdfast::nn {
namespace {

constexpr int64_t kPoints = kWinogradPoints, kTile = kWinogradTile, kReach = kWinogradReach;
constexpr int64_t kLeastChannels = 16, kLeastTiles = 36;
constexpr int64_t kMostFilter = 1 << 20;    // of a tap: at all points it is four times 9 taps
constexpr int64_t kLine = 16;               // floats of a line of the cache
constexpr int64_t kBlockBytes = 512 << 10;  // of a block's points and products
constexpr int64_t kLeastBlock = 24, kMostBlock = 96;  // tiles
constexpr int64_t kRowsAtOnce = 12;                   // that products take, or a divisor of it

int64_t up(int64_t v, int64_t to) { return (v + to - 1) / to; }

// A field that is read and one that is written, each [batch, height, width, channels].
struct Plan {
  const WinogradLoops& loops = winograd_loops();
  int64_t height, width, channels;  // of what is read
  int64_t out_height, out_width, out_channels;
  int64_t above, left;  // zeros around what is read
  TileGrid grid{out_height, out_width};
  int64_t panels = up(out_channels, loops.width), row = panels * loops.width;
  int64_t filter_plane = panels * channels * loops.width;
  int64_t tile_bytes = kPoints * (channels + row) * static_cast<int64_t>(sizeof(float));
  int64_t block =
      std::clamp(kBlockBytes / tile_bytes / kRowsAtOnce * kRowsAtOnce, kLeastBlock, kMostBlock);
};

Plan plan_of(const ConvShape& s, Pass pass) {
  if (pass == Pass::kForward)
    return {.height = s.in[1],
            .width = s.in[2],
            .channels = s.channels,
            .out_height = s.out[1],
            .out_width = s.out[2],
            .out_channels = s.out_channels,
            .above = s.before[1],
            .left = s.before[2]};
  return {.height = s.out[1],
          .width = s.out[2],
          .channels = s.out_channels,
          .out_height = s.in[1],
          .out_width = s.in[2],
          .out_channels = s.channels,
          .above = 2 - s.before[1],
          .left = 2 - s.before[2]};
}

// Exchanges rows and columns of [rows, columns], at most a line of columns: squares of lines, so
// that lines are read and written whole.
void turn(const float* from, int64_t step, int64_t rows, int64_t columns, float* to,
          int64_t to_step) {
  for (int64_t r = 0; r < rows; r += kLine) {
    int64_t some = std::min(kLine, rows - r);
    float square[kLine][kLine];
    for (int64_t i = 0; i < some; ++i)
      for (int64_t j = 0; j < columns; ++j) square[j][i] = from[(r + i) * step + j];
    for (int64_t j = 0; j < columns; ++j) std::copy_n(square[j], some, to + j * to_step + r);
  }
}

// [36, panels, channels, width]: the filter at all points. The gradient of an image meets its taps
// in reverse, and maps where the convolution has channels.
Tensor spread_filter(const Call& c, const Plan& p, Pass pass, const float* filter) {
  Tensor out = c.scratch(float32, Shape{kPoints, p.filter_plane});
  auto* to = out.mutable_raw<float>();
  int64_t width = p.loops.width, panel = p.channels * width;
  if (p.row != p.out_channels)  // lanes of the last panel that hold nothing
    for (int64_t i = 0; i < kPoints; ++i)
      std::memset(to + i * p.filter_plane + (p.panels - 1) * panel, 0,
                  static_cast<size_t>(panel) * sizeof(float));
  int64_t matrix = p.channels * p.out_channels;
  if (pass == Pass::kForward) {
    parallel_for(p.channels, grain_for(p.out_channels * kPoints), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        p.loops.spread_filter(filter + i * p.out_channels, matrix, p.out_channels, to + i * width,
                              p.filter_plane, panel);
    });
    return out;
  }
  parallel_for(up(p.channels, kLine), 1, [&](int64_t begin, int64_t end) {
    Tensor turned = c.scratch(float32, Shape{kLine, 9, p.out_channels});
    auto* rows = turned.mutable_raw<float>();
    for (int64_t first = begin * kLine; first < std::min(end * kLine, p.channels); first += kLine) {
      int64_t some = std::min(kLine, p.channels - first);
      for (int64_t tap = 0; tap < 9; ++tap)
        turn(filter + (8 - tap) * matrix + first, p.channels, p.out_channels, some,
             rows + tap * p.out_channels, 9 * p.out_channels);
      for (int64_t i = 0; i < some; ++i)
        p.loops.spread_filter(rows + i * 9 * p.out_channels, p.out_channels, p.out_channels,
                              to + (first + i) * width, p.filter_plane, panel);
    }
  });
  return out;
}

// Convolves blocks of tiles; one of each thread.
class Tiles {
 public:
  Tiles(const Call& c, const Plan& p, const ConvCall& call, const float* filter)
      : p_(p),
        call_(call),
        filter_(filter),
        from_((call.pass == Pass::kForward ? call.image : call.maps).raw<float>()),
        to_((call.pass == Pass::kForward ? call.maps : call.image).mutable_raw<float>()),
        patches_(c, from_, p.height, p.width, p.channels, kReach),
        points_(c.scratch(float32, Shape{kPoints, p.block, p.channels})),
        products_(c.scratch(float32, Shape{kPoints, p.block, p.row})) {}

  // Tiles are counted through all images.
  void convolve(int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += p_.block)
      block(first, std::min(p_.block, end - first));
  }

 private:
  void block(int64_t first, int64_t count) {
    float *points = points_.mutable_raw<float>(), *products = products_.mutable_raw<float>();
    int64_t plane = count * p_.channels, result = count * p_.row;
    for (int64_t i = 0; i < count; ++i) {
      TileGrid::Place at = p_.grid.place(first + i);
      Patches::Patch patch = patches_.at(at.image, at.y - p_.above, at.x - p_.left);
      p_.loops.spread_image(patch.data, patch.line, p_.channels, p_.channels,
                            points + i * p_.channels, plane);
    }
    for (int64_t k = 0; k < kPoints; ++k)
      p_.loops.multiply(points + k * plane, count, p_.channels, filter_ + k * p_.filter_plane,
                        p_.out_channels, products + k * result);
    int64_t line = p_.out_width * p_.out_channels;
    for (int64_t i = 0; i < count; ++i) {
      TileGrid::Place at = p_.grid.place(first + i);
      int64_t rows = std::min(kTile, p_.out_height - at.y),
              columns = std::min(kTile, p_.out_width - at.x),
              start = (at.image * p_.out_height + at.y) * p_.out_width + at.x;
      if (p_.loops.gather_maps(products + i * p_.row, result, p_.out_channels,
                               to_ + start * p_.out_channels, line, rows, columns))
        continue;
      // What is infinite or NaN would reach the whole tile: each position is computed by itself.
      for (int64_t y = 0; y < rows; ++y, start += p_.out_width)
        run_reference_at(call_, start, start + columns);
    }
  }

  const Plan& p_;
  const ConvCall& call_;
  const float *filter_, *from_;
  float* to_;
  Patches patches_;
  Tensor points_, products_;
};

}  // namespace

const WinogradLoops& winograd_loops() {
  static const WinogradLoops loops = HOLDFAST_BEST_ISA(winograd_loops_);
  return loops;
}

Patches::Patches(const Call& c, const float* images, int64_t height, int64_t width,
                 int64_t channels, int64_t reach)
    : images_(images),
      height_(height),
      width_(width),
      channels_(channels),
      reach_(reach),
      edge_(c.scratch(float32, Shape{reach, reach, channels})) {}

Patches::Patch Patches::at(int64_t image, int64_t y, int64_t x) {
  int64_t n = channels_, line = width_ * n;
  const float* from = images_ + image * height_ * line;
  if (y >= 0 && x >= 0 && y + reach_ <= height_ && x + reach_ <= width_)
    return {from + y * line + x * n, line};
  float* edge = edge_.mutable_raw<float>();
  int64_t begin = std::clamp<int64_t>(-x, 0, reach_),
          end = std::clamp<int64_t>(width_ - x, begin, reach_);
  for (int64_t i = 0; i < reach_; ++i) {
    float* row = edge + i * reach_ * n;
    bool inside = y + i >= 0 && y + i < height_ && begin < end;
    if (!inside || end - begin < reach_) std::fill_n(row, reach_ * n, 0.f);
    if (inside)
      std::copy_n(from + (y + i) * line + (x + begin) * n, (end - begin) * n, row + begin * n);
  }
  return {edge, reach_ * n};
}

const char* refuse_winograd_shape(const ConvShape& s, DType dtype) {
  if (dtype != float32) return "dtype";
  if (s.channels_first) return "channels come first";
  if (s.groups != 1) return "groups";
  if (s.axes != 2 || s.size[1] != 3 || s.size[2] != 3) return "the filter is not 3x3";
  for (size_t i : {1, 2}) {
    if (s.stride[i] != 1 || s.dilation[i] != 1) return "windows that do not slide by 1";
    if (s.before[i] > 2) return "windows that lie outside of the image";
  }
  if (std::min(s.channels, s.out_channels) < kLeastChannels) return "few channels";
  if (s.channels > kMostFilter / s.out_channels) return "a large filter";
  if (s.channels % 4 || s.out_channels % 4) return "channels that are no multiple of 4";
  if (!s.batch || !s.positions() || !s.in_positions()) return "an operand is empty";
  return nullptr;
}

const char* refuse_winograd(const Types& t, Pass pass, bool depthwise) {
  ConvShape s = conv_shape(t, pass, depthwise);
  if (auto why = refuse_winograd_shape(s, t.out_dtype())) return why;
  Plan p = plan_of(s, pass);
  if (p.grid.tiles * kTile * kTile > 2 * p.out_height * p.out_width) return "tiles are half empty";
  if (s.batch < up(kLeastTiles, p.grid.tiles)) return "few tiles";
  return nullptr;
}

Status run_winograd(Call& c, const ConvCall& call, int64_t images,
                    const std::function<void(int64_t)>& then) {
  Plan p = plan_of(call.shape, call.pass);
  Tensor filter = spread_filter(c, p, call.pass, call.filter.raw<float>());
  int64_t all = call.shape.batch * p.grid.tiles, each = then ? images * p.grid.tiles : p.block;
  parallel_for(up(all, each), 1, [&](int64_t begin, int64_t end) {
    Tiles tiles(c, p, call, filter.raw<float>());
    for (int64_t i = begin; i < end; ++i) {
      tiles.convolve(i * each, std::min(all, (i + 1) * each));
      if (then) then(i * images);
    }
  });
  return {};
}

}  // namespace holdfast::nn
