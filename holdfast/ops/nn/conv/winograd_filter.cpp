// The gradient of a 3x3 filter by Winograd's algorithm: tiles of images and of maps are spread over
// 36 points, multiplied there and added up over all tiles; the filter is gathered from the sums.
#include <algorithm>
#include <atomic>

#include "holdfast/base/parallel.h"
#include "holdfast/ops/nn/conv/cpu/filter_loops.h"
#include "holdfast/ops/nn/conv/winograd.h"

namespace holdfast::nn {
namespace {

constexpr int64_t kPoints = kWinogradPoints, kTile = kWinogradTile, kReach = kWinogradReach;
constexpr int64_t kPieces = 16;  // for how many threads
constexpr int64_t kLeastTiles = 36;
constexpr int64_t kLeastPiece = 96;      // tiles: adding the sums of a piece up should cost little
constexpr int64_t kMostSums = 16 << 20;  // bytes of all pieces
constexpr int64_t kBlockBytes = 512 << 10;                             // of a block's points
constexpr int64_t kLeastBlock = 32, kLeastFar = 96, kMostBlock = 192;  // tiles
constexpr int64_t kChannels = 16;  // of the image, that a part at least has

const FilterLoop& filter_loop() {
  static const FilterLoop loop = HOLDFAST_BEST_ISA(filter_loop_);
  return loop;
}

int64_t up(int64_t v, int64_t to) { return (v + to - 1) / to; }

// How the work is cut. Pieces go by sizes alone, so that the number of threads changes no bit: what
// a piece adds up, it adds tile by tile, whatever its parts and blocks are.
struct Cut {
  const ConvShape& s;
  const FilterLoop& loop = filter_loop();
  TileGrid grid{s.out[1], s.out[2]};
  int64_t all = s.batch * grid.tiles;
  int64_t panels = up(s.out_channels, loop.width), row = panels * loop.width;
  int64_t plane = s.channels * row, sums = kPoints * plane;  // of all points
  // Pieces of the batch that have sums of their own; where they are few, threads take parts of the
  // image's channels, for each of which all maps are spread again.
  int64_t each =
      up(all, std::clamp<int64_t>(std::min(all / kLeastPiece, kMostSums / 4 / sums), 1, kPieces));
  int64_t pieces = up(all, each);
  int64_t part = up(up(s.channels, up(num_threads(), pieces)), kChannels) * kChannels;
  int64_t parts = up(s.channels, part);
  int64_t cell = kPoints * static_cast<int64_t>(sizeof(float)), high = std::min(part, s.channels);
  // Sums that the second cache does not hold pass once a block.
  int64_t least = cell * high * row > 2 * kBlockBytes ? kLeastFar : kLeastBlock;
  int64_t block =
      std::min(each, std::clamp(kBlockBytes / (cell * (high + row)), least, kMostBlock));

  explicit Cut(const ConvShape& shape) : s(shape) {}
};

// Adds up what some tiles send to some channels of the filter; one of each thread.
class Sums {
 public:
  Sums(const Call& c, const Cut& cut, const ConvCall& call)
      : cut_(cut),
        images_(c, call.image.raw<float>(), cut.s.in[1], cut.s.in[2], cut.s.channels, kReach),
        maps_(c, call.maps.raw<float>(), cut.s.out[1], cut.s.out[2], cut.s.out_channels, kTile),
        seen_(c.scratch(float32, Shape{kPoints, cut.block, std::min(cut.part, cut.s.channels)})),
        sent_(c.scratch(float32, Shape{kPoints, cut.block, cut.row})) {
    if (cut.row != cut.s.out_channels)  // lanes of the last panel that hold nothing
      std::fill_n(sent_.mutable_raw<float>(), sent_.size(), 0.f);
  }

  void add(int64_t first, int64_t count, int64_t channel, float* sums) {
    const Cut& c = cut_;
    int64_t n = std::min(c.part, c.s.channels - channel), width = winograd_loops().width,
            seen_plane = count * n, panel = c.block * width, sent_plane = c.panels * panel;
    float *seen = seen_.mutable_raw<float>(), *sent = sent_.mutable_raw<float>();
    for (int64_t i = 0; i < count; ++i) {
      TileGrid::Place at = c.grid.place(first + i);
      Patches::Patch x = images_.at(at.image, at.y - c.s.before[1], at.x - c.s.before[2]);
      winograd_loops().spread_image(x.data + channel, x.line, c.s.channels, n, seen + i * n,
                                    seen_plane);
      Patches::Patch y = maps_.at(at.image, at.y, at.x);
      winograd_loops().spread_maps(y.data, y.line, c.s.out_channels, sent + i * width, sent_plane,
                                   panel);
    }
    for (int64_t k = 0; k < kPoints; ++k)
      c.loop.add({.x = seen + k * seen_plane,
                  .x_step = n,
                  .x_line = 0,
                  .run = n,
                  .y = sent + k * sent_plane,
                  .y_panel = panel,
                  .lines = 1,
                  .positions = count,
                  .sum = sums + k * c.plane + channel * c.row,
                  .panels = c.panels});
  }

 private:
  const Cut& cut_;
  Patches images_, maps_;
  Tensor seen_, sent_;
};

}  // namespace

const char* refuse_winograd_filter(const Types& t, bool depthwise) {
  ConvShape s = conv_shape(t, Pass::kFilter, depthwise);
  if (auto why = refuse_winograd_shape(s, t.out_dtype())) return why;
  Cut cut(s);
  if (cut.grid.tiles * kTile * kTile > 2 * s.positions()) return "tiles are half empty";
  if (cut.all < kLeastTiles) return "few tiles";
  return nullptr;
}

Status run_winograd_filter(Call& c, bool depthwise) {
  ConvCall k(c, Pass::kFilter, conv_shape(c.types(), Pass::kFilter, depthwise));
  Cut cut(k.shape);
  Tensor all = c.scratch(float32, Shape{cut.pieces, cut.sums});
  auto* sums = all.mutable_raw<float>();
  parallel_for(cut.pieces * cut.parts, 1, [&](int64_t begin, int64_t end) {
    Sums own(c, cut, k);
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = i / cut.parts * cut.each, last = std::min(first + cut.each, cut.all),
              channel = i % cut.parts * cut.part,
              rows = std::min(cut.part, cut.s.channels - channel);
      float* to = sums + i / cut.parts * cut.sums;
      for (int64_t p = 0; p < kPoints; ++p)
        std::fill_n(to + p * cut.plane + channel * cut.row, rows * cut.row, 0.f);
      for (; first < last; first += cut.block)
        own.add(first, std::min(cut.block, last - first), channel, to);
    }
  });
  int64_t n = cut.s.out_channels;
  float* filter = k.filter.mutable_raw<float>();
  std::atomic<bool> finite = true;
  parallel_for(cut.s.channels, 1, [&](int64_t begin, int64_t end) {
    Tensor joined = c.scratch(float32, Shape{kPoints, cut.row});
    auto* points = joined.mutable_raw<float>();
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t p = 0; p < kPoints; ++p)
        cut.loop.join(sums + p * cut.plane + i * cut.row, cut.sums, cut.pieces,
                      points + p * cut.row, n);
      if (!winograd_loops().gather_filter(points, cut.row, n, filter + i * n, cut.s.channels * n))
        finite = false;
    }
  });
  // What is infinite or NaN would reach all taps.
  return finite ? Status() : run_filter_product(c, depthwise);
}

}  // namespace holdfast::nn
