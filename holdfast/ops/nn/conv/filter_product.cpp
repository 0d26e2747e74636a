// The gradient of a filter, for images with their channels last.
//
// It is a product: what the taps meet at each position of the maps, turned, times the maps. Lines
// of an image already lie as its left operand wants them, so nothing is unfolded; some lines of
// maps at a time are packed, and added to the filter tile by tile.
#include <algorithm>
#include <cstring>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/ops/nn/conv/cpu/filter_loops.h"
#include "holdfast/ops/nn/conv/shape.h"

namespace holdfast::nn {
namespace {

// Milliseconds of oneDNN and of this, one core of an EPYC with AVX2 that others used too:
//
//   64x26x26x32, 3x3 to 64     23.3   17.0      16x14x14x256, 3x3 to 256   61.1   51.6
//   8x56x56x64, 3x3 to 64      38.8   23.0      16x7x7x512, 3x3 to 512     82.5   58.2
//   16x28x28x128, 3x3 to 128   69.1   49.3      8x224x224x3, 7x7/2 to 64   32.5   25.0
//   32x32x32x16, 3x3 to 16     2.26   1.84      32x8x8x64, 3x3 to 64       2.37   1.86
//
// One tap, fewer channels, maps that leave an eighth of a panel empty and less work are oneDNN's.
// With AVX-512 the processor decides: on a Zen 5 this takes 0.72x to 1.0x of its time (64x26x26x32
// 8.2 and 6.9, 16x28x28x128 16.5 and 14.8, 8x224x224x3 13.0 and 9.5), on a Xeon 0.9x to 1.4x
// (5.1 and 4.7, 16x14x14x256 13.0 and 10.9, 8x224x224x3 6.6 and 7.7).
constexpr int64_t kLeastRun = 20, kLeastWork = 1 << 24;  // floats, multiplications
constexpr int64_t kPieces = 32, kWorthAPiece = 1 << 22;  // for how many threads, multiplications
constexpr int64_t kLeastPositions = 512;  // of a piece: adding its sums up should cost nothing
constexpr int64_t kMostSums = 16 << 20;   // bytes of all pieces
constexpr int64_t kMostPositions = 128, kMostPacked = 16384;  // floats of maps in the first caches
constexpr int64_t kMostStep =
    1 << 20;  // sizes of a window that no product of sizes leaves 64 bits by

const FilterLoop& filter_loop() {
  static const FilterLoop loop = HOLDFAST_BEST_ISA(filter_loop_);
  return loop;
}

int64_t up(int64_t v, int64_t to) { return (v + to - 1) / to; }

double multiplications(const ConvShape& s) {
  return static_cast<double>(s.batch * s.positions()) * static_cast<double>(s.work());
}

// How the work is cut: by sizes alone, so that the number of threads changes no bit.
struct Cut {
  const ConvShape& s;
  const FilterLoop& loop = filter_loop();
  int64_t panels = up(s.out_channels, loop.width), row = panels * loop.width;
  // Taps of a row that lie side by side are one run.
  bool joined = s.dilation[2] == 1;
  int64_t run = s.channels * (joined ? s.size[2] : 1);
  int64_t units = s.size[0] * s.size[1] * (joined ? 1 : s.size[2]), rows = units * run;
  // A block: some lines of one image, or a part of a line.
  int64_t most = std::clamp(kMostPacked / row, int64_t{24}, kMostPositions);
  int64_t positions = up(s.out[2], up(s.out[2], most));
  int64_t lines = std::min(s.out[1], std::max<int64_t>(1, most / positions));
  int64_t across = up(s.out[2], positions), down = up(s.out[1], lines);
  int64_t blocks = s.batch * s.out[0] * down * across;
  // Pieces of the batch that have sums of their own; where they are few, parts of the filter too.
  int64_t all =
      static_cast<int64_t>(std::clamp<double>(multiplications(s) / kWorthAPiece, 1, kPieces));
  int64_t each = up(blocks, std::clamp<int64_t>(std::min(s.batch* s.positions() / kLeastPositions,
                                                         kMostSums / 4 / (rows * row)),
                                                1, all));
  int64_t pieces = up(blocks, each), wanted = up(all, pieces);
  int64_t chunk = up(up(run, up(wanted, units)), loop.height) * loop.height,
          chunks = up(run, chunk);
  int64_t part = up(units * chunks, wanted), parts = up(units * chunks, part);  // in chunks
  // Whether some tap of a line lies outside of the image.
  int64_t reach = (s.out[2] - 1) * s.stride[2] + (s.size[2] - 1) * s.dilation[2] + 1;
  bool padded = s.before[2] > 0 || reach - s.before[2] > s.in[2];

  explicit Cut(const ConvShape& shape) : s(shape) {}
};

// Adds what some blocks send to a part of the filter.
class Adder {
 public:
  Adder(const Call& c, const Cut& cut, const float* image, const float* maps)
      : cut_(cut),
        s_(cut.s),
        image_(image),
        maps_(maps),
        packed_(c.scratch(float32, Shape{cut.lines * cut.positions, cut.row})) {
    if (cut.padded)
      line_ = c.scratch(float32, Shape{cut.lines, width(cut.positions) * s_.channels});
  }

  void add(int64_t part, int64_t begin, int64_t end, float* sums) {
    int64_t first = part * cut_.part, last = std::min(first + cut_.part, cut_.units * cut_.chunks);
    for (int64_t i = first; i < last; ++i) {
      Chunk c = chunk(i);
      std::fill_n(sums + c.row * cut_.row, c.rows * cut_.row, 0.f);
    }
    for (int64_t b = begin; b < end; ++b) {
      Block block = found(b);
      pack(block);
      for (int64_t i = first; i < last; ++i) add_chunk(block, chunk(i), sums);
    }
  }

 private:
  struct Block {
    int64_t n, d, h, w, lines, positions;
  };
  Block found(int64_t i) const {
    Block b;
    b.w = i % cut_.across * cut_.positions;
    i /= cut_.across;
    b.h = i % cut_.down * cut_.lines;
    i /= cut_.down;
    b.d = i % s_.out[0];
    b.n = i / s_.out[0];
    b.lines = std::min(cut_.lines, s_.out[1] - b.h);
    b.positions = std::min(cut_.positions, s_.out[2] - b.w);
    return b;
  }

  // Positions of an image that so many positions of maps look at.
  int64_t width(int64_t positions) const {
    return (positions - 1) * s_.stride[2] + (s_.size[2] - 1) * s_.dilation[2] + 1;
  }

  void pack(const Block& b) {
    int64_t width = cut_.loop.width, n = s_.out_channels, line = s_.out[2] * n,
            first = ((b.n * s_.out[0] + b.d) * s_.out[1] + b.h) * line + b.w * n;
    float* to = packed_.mutable_raw<float>();
    for (int64_t j = 0; j < n; j += width)
      for (int64_t i = 0; i < b.lines; ++i, to += b.positions * width)
        cut_.loop.pack(maps_ + first + i * line + j, n, b.positions, std::min(width, n - j), to);
  }

  // Rows of the filter that lie side by side in a line, and their first tap.
  struct Chunk {
    int64_t td, th, tw, first, row, rows;
  };
  Chunk chunk(int64_t i) const {
    int64_t first = i % cut_.chunks * cut_.chunk, unit = i / cut_.chunks,
            t = cut_.joined ? unit : unit / s_.size[2];
    return {.td = t / s_.size[1],
            .th = t % s_.size[1],
            .tw = cut_.joined ? 0 : unit % s_.size[2],
            .first = first,
            .row = unit * cut_.run + first,
            .rows = std::min(cut_.chunk, cut_.run - first)};
  }

  void add_chunk(const Block& b, const Chunk& c, float* sums) {
    int64_t z = b.d * s_.stride[0] - s_.before[0] + c.td * s_.dilation[0];
    if (z < 0 || z >= s_.in[0]) return;
    // The lines whose tap is inside of the image.
    auto y_of = [&](int64_t line) {
      return (b.h + line) * s_.stride[1] - s_.before[1] + c.th * s_.dilation[1];
    };
    int64_t begin = 0, end = b.lines;
    while (begin < end && y_of(begin) < 0) ++begin;
    while (begin < end && y_of(end - 1) >= s_.in[1]) --end;
    if (begin == end) return;
    int64_t line = s_.in[2] * s_.channels, x = b.w * s_.stride[2] - s_.before[2];
    const float* from = image_ + ((b.n * s_.in[0] + z) * s_.in[1] + y_of(begin)) * line;
    int64_t at = c.tw * s_.dilation[2] * s_.channels + c.first, step = s_.stride[1] * line;
    if (cut_.padded) {
      int64_t wide = width(b.positions) * s_.channels;
      pad(from, end - begin, step, x, wide);
      from = line_.raw<float>();
      step = wide;
    } else {
      from += x * s_.channels;
    }
    cut_.loop.add({.x = from + at,
                   .x_step = s_.stride[2] * s_.channels,
                   .x_line = step,
                   .run = c.rows,
                   .y = packed_.raw<float>() + begin * b.positions * cut_.loop.width,
                   .y_panel = b.lines * b.positions * cut_.loop.width,
                   .lines = end - begin,
                   .positions = b.positions,
                   .sum = sums + c.row * cut_.row,
                   .panels = cut_.panels});
  }

  // Lines with zeros where they are outside of the image.
  void pad(const float* from, int64_t lines, int64_t step, int64_t x0, int64_t wide) {
    int64_t c = s_.channels, first = std::max<int64_t>(0, -x0) * c,
            last = std::max(first, std::min(wide, (s_.in[2] - x0) * c));
    float* to = line_.mutable_raw<float>();
    for (int64_t i = 0; i < lines; ++i, from += step, to += wide) {
      std::fill(to, to + std::min(first, wide), 0.f);
      if (first < last)
        std::memcpy(to + first, from + x0 * c + first,
                    static_cast<size_t>(last - first) * sizeof(float));
      std::fill(to + std::min(last, wide), to + wide, 0.f);
    }
  }

  const Cut& cut_;
  const ConvShape& s_;
  const float *image_, *maps_;
  Tensor packed_, line_;
};

bool faster_than_onednn() {
  static const bool amd = (__builtin_cpu_init(), __builtin_cpu_is("amd"));
  return best_isa() == Isa::kAvx2 || (best_isa() == Isa::kAvx512 && amd);
}

}  // namespace

const char* refuse_filter_product(const Types& t, bool depthwise) {
  if (t.out_dtype() != float32) return "dtype";
  if (!faster_than_onednn()) return "oneDNN is faster on this processor";
  ConvShape s = conv_shape(t, Pass::kFilter, depthwise);
  if (s.channels_first) return "channels come first";
  if (s.groups != 1) return "groups";
  if (!s.batch || !s.positions() || !s.in_positions()) return "an operand is empty";
  if (s.taps() == 1) return "one tap";
  for (size_t i = 0; i < 3; ++i)
    if (std::max({s.stride[i], s.dilation[i], s.before[i], s.size[i]}) > kMostStep)
      return "very large sizes";
  Cut cut(s);
  if (cut.reach > 4 * s.in[2] + kMostPositions) return "most taps are outside of the image";
  if (cut.run < kLeastRun) return "few channels";
  if (cut.row * 8 > s.out_channels * 9) return "maps fill no panels";
  if (multiplications(s) < kLeastWork) return "little work";
  return nullptr;
}

Status run_filter_product(Call& c, bool depthwise) {
  ConvCall k(c, Pass::kFilter, conv_shape(c.types(), Pass::kFilter, depthwise));
  const ConvShape& s = k.shape;
  Cut cut(s);
  Tensor sums = c.scratch(float32, Shape{cut.pieces, cut.rows, cut.row});
  auto* sum = sums.mutable_raw<float>();
  const float *image = k.image.raw<float>(), *maps = k.maps.raw<float>();
  parallel_for(cut.pieces * cut.parts, 1, [&](int64_t begin, int64_t end) {
    Adder adder(c, cut, image, maps);
    for (int64_t i = begin; i < end; ++i) {
      int64_t piece = i / cut.parts, first = piece * cut.each;
      adder.add(i % cut.parts, first, std::min(first + cut.each, cut.blocks),
                sum + piece * cut.rows * cut.row);
    }
  });
  float* filter = k.filter.mutable_raw<float>();
  parallel_for(cut.rows, grain_for(cut.pieces * s.out_channels), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      cut.loop.join(sum + r * cut.row, cut.rows * cut.row, cut.pieces, filter + r * s.out_channels,
                    s.out_channels);
  });
  return {};
}

}  // namespace holdfast::nn
