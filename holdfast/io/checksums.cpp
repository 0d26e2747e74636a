#include "holdfast/io/checksums.h"

#include <array>
#include <bit>
#include <cstring>

namespace holdfast::io {
namespace {

// Eight tables: what one byte adds to the sum when so many bytes come after it.
constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, 8> t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
    t[0][i] = c;
  }
  for (size_t k = 1; k < 8; ++k)
    for (size_t i = 0; i < 256; ++i) t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 255];
  return t;
}();

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t before) {
  uint32_t c = ~before;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t eight;
    std::memcpy(&eight, at, 8);
    eight ^= c;
    c = 0;
    for (size_t k = 0; k < 8; ++k) c ^= kTables[7 - k][eight >> (8 * k) & 255];
  }
  for (; left > 0; --left, ++at) c = c >> 8 ^ kTables[0][(c ^ static_cast<uint8_t>(*at)) & 255];
  return ~c;
}

uint32_t masked_crc32c(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

uint32_t lookup3(std::string_view bytes) {
  uint32_t a = 0xdeadbeefu + static_cast<uint32_t>(bytes.size()), b = a, c = a;
  auto word = [&](size_t from, size_t to) {  // bytes beyond the end count as zero
    uint32_t out = 0;
    for (size_t i = from; i < to && i < bytes.size(); ++i)
      out |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * (i - from));
    return out;
  };
  size_t at = 0;
  for (; bytes.size() - at > 12; at += 12) {
    a += word(at, at + 4), b += word(at + 4, at + 8), c += word(at + 8, at + 12);
    a = (a - c) ^ std::rotl(c, 4), c += b;
    b = (b - a) ^ std::rotl(a, 6), a += c;
    c = (c - b) ^ std::rotl(b, 8), b += a;
    a = (a - c) ^ std::rotl(c, 16), c += b;
    b = (b - a) ^ std::rotl(a, 19), a += c;
    c = (c - b) ^ std::rotl(b, 4), b += a;
  }
  if (at == bytes.size()) return c;
  a += word(at, at + 4), b += word(at + 4, at + 8), c += word(at + 8, at + 12);
  c = (c ^ b) - std::rotl(b, 14);
  a = (a ^ c) - std::rotl(c, 11);
  b = (b ^ a) - std::rotl(a, 25);
  c = (c ^ b) - std::rotl(b, 16);
  a = (a ^ c) - std::rotl(c, 4);
  b = (b ^ a) - std::rotl(a, 14);
  c = (c ^ b) - std::rotl(b, 24);
  return c;
}

}  // namespace holdfast::io
