// The two 16-bit floats. They store; arithmetic happens in float.
#pragma once

#include <bit>
#include <cstdint>

namespace holdfast {

/// IEEE binary16.
struct half {
  uint16_t bits = 0;

  half() = default;
  explicit half(float f) : bits(round(f)) {}
  static half from_bits(uint16_t b) {
    half h;
    h.bits = b;
    return h;
  }
  operator float() const {
    // Shift the mantissa up, then fix the exponent by a multiplication that also handles denormals.
    uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fff) << 13;
    float scaled = std::bit_cast<float>(magnitude) * std::bit_cast<float>(0x77800000u);
    uint32_t out = std::bit_cast<uint32_t>(scaled);
    out = (bits & 0x7c00) == 0x7c00 ? (0x7f800000u | (magnitude & 0x7fffffu)) : out;
    return std::bit_cast<float>(out | (static_cast<uint32_t>(bits & 0x8000) << 16));
  }

 private:
  static uint16_t round(float f) {
    uint32_t x = std::bit_cast<uint32_t>(f), sign = (x >> 16) & 0x8000, a = x & 0x7fffffff;
    // Values below the smallest normal half: let float addition do the rounding.
    float denormal = std::bit_cast<float>(a) + 0.5f;
    uint32_t small = std::bit_cast<uint32_t>(denormal) - 0x3f000000u;
    uint32_t normal = (a + 0xfff + ((a >> 13) & 1) - 0x38000000u) >> 13;
    uint32_t out = a < 0x38800000u ? small : normal;
    out = a >= 0x477ff000u ? 0x7c00u : out;
    out = a > 0x7f800000u ? 0x7e00u : out;
    return static_cast<uint16_t>(sign | out);
  }
};

/// The upper half of a float32.
struct bfloat {
  uint16_t bits = 0;

  bfloat() = default;
  explicit bfloat(float f) : bits(round(f)) {}
  static bfloat from_bits(uint16_t b) {
    bfloat h;
    h.bits = b;
    return h;
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

 private:
  static uint16_t round(float f) {
    uint32_t x = std::bit_cast<uint32_t>(f);
    uint32_t even = (x + 0x7fff + ((x >> 16) & 1)) >> 16;
    return static_cast<uint16_t>((x & 0x7fffffff) > 0x7f800000u ? ((x >> 16) | 0x40) : even);
  }
};

}  // namespace holdfast
