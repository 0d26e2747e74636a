// GIF: frames of palette colors, compressed by Lempel, Ziv and Welch's way.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "holdfast/io/images.h"

namespace holdfast::io {
namespace {

/// Bytes one after the other; `good` ends where they do.
struct Bytes {
  std::string_view left;
  bool good = true;
  uint32_t number(size_t count) {
    if (left.size() < count) {
      good = false;
      return 0;
    }
    uint32_t out = 0;
    for (size_t i = count; i-- > 0;) out = out << 8 | static_cast<unsigned char>(left[i]);
    left.remove_prefix(count);
    return out;
  }
  std::string_view take(size_t count) {
    if (left.size() < count) {
      good = false;
      return {};
    }
    std::string_view out = left.substr(0, count);
    left.remove_prefix(count);
    return out;
  }
  /// Blocks of up to 255 bytes, put together.
  std::string blocks() {
    std::string out;
    for (uint32_t n = number(1); good && n > 0; n = number(1)) out += take(n);
    return out;
  }
};

// Fills `to` with numbers of colors; how many there were.
size_t unpacked(std::string_view packed, unsigned first_bits, std::vector<uint8_t>& to) {
  constexpr unsigned kMostBits = 12;
  const unsigned clear = 1u << first_bits, end = clear + 1;
  std::array<uint16_t, 1u << kMostBits> before;
  std::array<uint8_t, 1u << kMostBits> last;
  std::array<uint8_t, (1u << kMostBits) + 1> text;
  unsigned bits = first_bits + 1, next = end + 1, held = 0, previous = clear;
  uint32_t window = 0;
  size_t at = 0, out = 0;
  uint8_t first = 0;
  for (unsigned i = 0; i < clear; ++i) last[i] = static_cast<uint8_t>(i);
  while (out < to.size()) {
    while (held < bits) {
      if (at == packed.size()) return out;
      window |= static_cast<uint32_t>(static_cast<unsigned char>(packed[at++])) << held;
      held += 8;
    }
    unsigned code = window & ((1u << bits) - 1);
    window >>= bits;
    held -= bits;
    if (code == end) return out;
    if (code == clear) {
      bits = first_bits + 1;
      next = end + 1;
      previous = clear;
      continue;
    }
    bool fresh = previous == clear;
    if (code > next || (fresh && code >= clear) ||
        (!fresh && code == next && next == before.size()))
      return out;
    size_t length = 0;
    unsigned walk = code;
    if (!fresh && code == next) {
      text[length++] = first;
      walk = previous;
    }
    while (walk > end) {
      text[length++] = last[walk];
      walk = before[walk];
    }
    if (walk == clear || walk == end) return out;
    first = last[walk];
    text[length++] = first;
    while (length > 0 && out < to.size()) to[out++] = text[--length];
    if (!fresh && next < before.size()) {
      before[next] = static_cast<uint16_t>(previous);
      last[next++] = first;
      if (next == 1u << bits && bits < kMostBits) ++bits;
    }
    previous = code;
  }
  return out;
}

struct Frame {
  int64_t left, top, width, height;
  std::string_view palette;
  bool interlaced;
  int transparent, disposal;
  unsigned bits;
  std::string packed;
};

void draw(const Frame& f, const std::vector<uint8_t>& pixels, const ImageSize& size, uint8_t* to) {
  static constexpr int kStart[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  size_t at = 0;
  auto row = [&](int64_t y) {
    for (int64_t x = 0; x < f.width; ++x) {
      size_t color = pixels[at++];
      int64_t px = f.left + x, py = f.top + y;
      if (px >= size.width || py >= size.height) continue;
      if (static_cast<int>(color) == f.transparent || color * 3 + 3 > f.palette.size()) continue;
      std::memcpy(to + (py * size.width + px) * 3, f.palette.data() + color * 3, 3);
    }
  };
  if (!f.interlaced)
    for (int64_t y = 0; y < f.height; ++y) row(y);
  else
    for (int pass = 0; pass < 4; ++pass)
      for (int64_t y = kStart[pass]; y < f.height; y += kStep[pass]) row(y);
}

}  // namespace

std::string read_gif(std::string_view file, bool all, const ImagePlace& place) {
  Bytes in{file};
  std::string_view magic = in.take(6);
  if (magic != "GIF87a" && magic != "GIF89a") return "it does not begin with `GIF87a` or `GIF89a`";
  ImageSize size{0, 0, 0, 3};
  size.width = in.number(2);
  size.height = in.number(2);
  uint32_t flags = in.number(1);
  in.take(2);
  auto palette = [&](uint32_t f) {
    return f & 128 ? in.take(size_t{3} << ((f & 7) + 1)) : std::string_view();
  };
  std::string_view colors = palette(flags);
  std::vector<Frame> frames;
  int transparent = -1, disposal = 0;
  while (in.good) {
    uint32_t kind = in.number(1);
    if (kind == 0x3b || !in.good) break;
    if (kind == 0x21) {
      uint32_t label = in.number(1);
      std::string body = in.blocks();
      if (label == 0xf9 && body.size() >= 4) {
        transparent = body[0] & 1 ? static_cast<unsigned char>(body[3]) : -1;
        disposal = body[0] >> 2 & 7;
      }
      continue;
    }
    if (kind != 0x2c) return "it holds a block of no known kind";
    Frame f{};
    f.left = in.number(2);
    f.top = in.number(2);
    f.width = in.number(2);
    f.height = in.number(2);
    uint32_t own = in.number(1);
    f.palette = own & 128 ? palette(own) : colors;
    f.interlaced = own & 64;
    f.bits = in.number(1);
    f.packed = in.blocks();
    if (!in.good) break;
    if (f.bits < 1 || f.bits > 8) return "a frame has codes of no known length";
    f.transparent = transparent;
    f.disposal = disposal;
    transparent = -1;
    disposal = 0;
    frames.push_back(std::move(f));
    if (!all) break;
  }
  if (frames.empty()) return "it ends before its first frame";
  if (all && !in.good) return "it ends too early";
  if (size.width < 1 || size.height < 1) return "it has no pixels";
  size.frames = static_cast<int64_t>(frames.size());
  if (size.frames * size.width * size.height > int64_t{1} << 29) return "it has too many pixels";
  auto* to = static_cast<uint8_t*>(place(size));
  size_t bytes = static_cast<size_t>(size.width * size.height) * 3;
  std::vector<uint8_t> pixels;
  for (size_t i = 0; i < frames.size(); ++i) {
    const Frame& f = frames[i];
    uint8_t* frame = to + i * bytes;
    // A frame is drawn over the one before it, unless that was to be taken away.
    if (i == 0 || frames[i - 1].disposal == 2)
      std::memset(frame, 0, bytes);
    else
      std::memcpy(frame, frame - bytes, bytes);
    pixels.assign(static_cast<size_t>(f.width * f.height), 0);
    if (unpacked(f.packed, f.bits, pixels) < pixels.size())
      return "the pixels of a frame are damaged";
    draw(f, pixels, size, frame);
  }
  return {};
}

}  // namespace holdfast::io
