#include "holdfast/io/snappy.h"

#include <cstdint>

namespace holdfast::io {

// A length, then pieces: bytes as they are, or bytes that were there before. The two lowest bits of
// a piece's first byte say which.
std::optional<std::string> unsnappied(std::string_view from) {
  size_t at = 0;
  bool good = true;
  auto number = [&](size_t bytes) {
    uint64_t out = 0;
    good = good && bytes <= from.size() - at;
    for (size_t i = 0; good && i < bytes; ++i)
      out |= static_cast<uint64_t>(static_cast<unsigned char>(from[at++])) << (8 * i);
    return out;
  };
  uint64_t length = 0;
  for (unsigned shift = 0;; shift += 7) {
    uint64_t byte = number(1);
    if (!good || shift > 28) return std::nullopt;
    length |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  // Three bytes stand for at most 64.
  if (length > 22 * from.size() + 64) return std::nullopt;
  std::string out;
  out.reserve(length);
  while (at < from.size()) {
    uint64_t tag = number(1), count = tag >> 2;
    if ((tag & 3) == 0) {
      if (count >= 60) count = number(count - 59);
      ++count;
      if (!good || count > from.size() - at || count > length - out.size()) return std::nullopt;
      out += from.substr(at, count);
      at += count;
      continue;
    }
    uint64_t back = 0;
    if ((tag & 3) == 1) {
      back = tag >> 5 << 8;
      count = (count & 7) + 4;
      back |= number(1);
    } else {
      back = number((tag & 3) == 2 ? 2 : 4);
      ++count;
    }
    if (!good || back == 0 || back > out.size() || count > length - out.size()) return std::nullopt;
    // What is copied may be what is being copied.
    for (uint64_t i = 0; i < count; ++i) out += out[out.size() - back];
  }
  if (out.size() != length) return std::nullopt;
  return out;
}

}  // namespace holdfast::io
