#include "holdfast/ops/strings/fingerprint.h"

#include <bit>
#include <cstring>
#include <utility>

namespace holdfast {
namespace {

using U64 = uint64_t;
using Pair = std::pair<U64, U64>;

// Bytes are little-endian, as this library's machines are.
U64 load64(const char* p) {
  U64 v;
  std::memcpy(&v, p, 8);
  return v;
}
U64 load32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}

// -- FarmHash (na), which keeps the formulas of CityHash

constexpr U64 k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

// FarmHash turns to the right.
U64 turned(U64 v, int by) { return std::rotr(v, by); }
U64 shift_mix(U64 v) { return v ^ (v >> 47); }
U64 mixed(U64 u, U64 v, U64 mul) {
  U64 a = shift_mix((u ^ v) * mul);
  return shift_mix((v ^ a) * mul) * mul;
}

U64 up_to_16(const char* s, U64 n) {
  U64 mul = k2 + n * 2;
  if (n >= 8) {
    U64 a = load64(s) + k2, b = load64(s + n - 8);
    return mixed(turned(b, 37) * mul + a, (turned(a, 25) + b) * mul, mul);
  }
  if (n >= 4) return mixed(n + (load32(s) << 3), load32(s + n - 4), mul);
  if (n == 0) return k2;
  auto byte = [&](U64 i) { return static_cast<U64>(static_cast<unsigned char>(s[i])); };
  auto y = static_cast<uint32_t>(byte(0) + (byte(n >> 1) << 8));
  auto z = static_cast<uint32_t>(n + (byte(n - 1) << 2));
  return shift_mix(y * k2 ^ z * k0) * k2;
}

U64 up_to_32(const char* s, U64 n) {
  U64 mul = k2 + n * 2;
  U64 a = load64(s) * k1, b = load64(s + 8), c = load64(s + n - 8) * mul,
      d = load64(s + n - 16) * k2;
  return mixed(turned(a + b, 43) + turned(c, 30) + d, a + turned(b + k2, 18) + c, mul);
}

U64 up_to_64(const char* s, U64 n) {
  U64 mul = k2 + n * 2;
  U64 a = load64(s) * k2, b = load64(s + 8), c = load64(s + n - 8) * mul,
      d = load64(s + n - 16) * k2;
  U64 y = turned(a + b, 43) + turned(c, 30) + d;
  U64 z = mixed(y, a + turned(b + k2, 18) + c, mul);
  U64 e = load64(s + 16) * mul, f = load64(s + 24);
  U64 g = (y + load64(s + n - 32)) * mul, h = (z + load64(s + n - 24)) * mul;
  return mixed(turned(e + f, 43) + turned(g, 30) + h, e + turned(f + a, 18) + g, mul);
}

// 32 bytes and two seeds.
Pair weak(const char* s, U64 a, U64 b) {
  U64 w = load64(s), x = load64(s + 8), y = load64(s + 16), z = load64(s + 24);
  a += w;
  b = turned(b + a + z, 21);
  U64 c = a;
  a += x + y;
  b += turned(a, 44);
  return {a + z, b + c};
}

}  // namespace

U64 farm_fingerprint(std::string_view text) {
  const char* s = text.data();
  U64 n = text.size();
  if (n <= 16) return up_to_16(s, n);
  if (n <= 32) return up_to_32(s, n);
  if (n <= 64) return up_to_64(s, n);
  constexpr U64 seed = 81;
  U64 x = seed * k2 + load64(s), y = seed * k1 + 113, z = shift_mix(y * k2 + 113) * k2;
  Pair v{0, 0}, w{0, 0};
  // The last 64 bytes are done once more in the end, with another factor.
  const char *end = s + (n - 1) / 64 * 64, *last = end + ((n - 1) & 63) - 63;
  auto step = [&](U64 mul, U64 weight) {
    x = turned(x + y + v.first + load64(s + 8), 37) * mul;
    y = turned(y + v.second + load64(s + 48), 42) * mul;
    x ^= w.second * weight;
    y += v.first * weight + load64(s + 40);
    z = turned(z + w.first, 33) * mul;
    v = weak(s, v.second * mul, x + w.first);
    w = weak(s + 32, z + w.second, y + load64(s + 16));
    std::swap(z, x);
  };
  for (; s != end; s += 64) step(k1, 1);
  U64 mul = k1 + ((z & 0xff) << 1);
  s = last;
  w.first += (n - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  step(mul, 9);
  return mixed(mixed(v.first, w.first, mul) + shift_mix(y) * k0 + z,
               mixed(v.second, w.second, mul) + x, mul);
}

U64 murmur_hash(std::string_view text) {
  constexpr U64 mul = 0xc6a4a7935bd1e995, seed = 0xDECAFCAFFE;
  U64 h = seed ^ (text.size() * mul);
  for (; text.size() >= 8; text.remove_prefix(8)) {
    U64 k = load64(text.data()) * mul;
    k = (k ^ (k >> 47)) * mul;
    h = (h ^ k) * mul;
  }
  if (!text.empty()) {
    U64 k = 0;
    std::memcpy(&k, text.data(), text.size());
    h = (h ^ k) * mul;
  }
  h = shift_mix(h) * mul;
  return shift_mix(h);
}

U64 sip_hash(std::string_view text, U64 key0, U64 key1) {
  U64 a = key0 ^ 0x736f6d6570736575, b = key1 ^ 0x646f72616e646f6d, c = key0 ^ 0x6c7967656e657261,
      d = key1 ^ 0x7465646279746573;
  auto rounds = [&](int n) {
    for (; n > 0; --n) {
      a += b, b = std::rotl(b, 13) ^ a, a = std::rotl(a, 32);
      c += d, d = std::rotl(d, 16) ^ c;
      a += d, d = std::rotl(d, 21) ^ a;
      c += b, b = std::rotl(b, 17) ^ c, c = std::rotl(c, 32);
    }
  };
  auto take = [&](U64 word) {
    d ^= word;
    rounds(2);
    a ^= word;
  };
  U64 last = static_cast<U64>(text.size()) << 56;
  for (; text.size() >= 8; text.remove_prefix(8)) take(load64(text.data()));
  std::memcpy(&last, text.data(), text.size());  // its uppermost byte is the length's
  take(last);
  c ^= 0xff;
  rounds(4);
  return a ^ b ^ c ^ d;
}

}  // namespace holdfast
