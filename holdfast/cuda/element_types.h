// The 16-bit floats inside kernels, for nvcc and NVRTC alike. No include: NVRTC has no host
// headers.
#pragma once

namespace holdfast::scalar {

// Stores; arithmetic happens in float.
struct half {
  unsigned short bits;
  half() = default;
  __device__ explicit half(float f) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(f)); }
  __device__ operator float() const {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(bits));
    return f;
  }
};

struct bfloat {
  unsigned short bits;
  bfloat() = default;
  __device__ explicit bfloat(float f) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(f)); }
  __device__ operator float() const { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
};

// Complex numbers, which are only moved.
struct alignas(8) cell8 {
  unsigned long long bits;
};
struct alignas(16) cell16 {
  unsigned long long low, high;
};

}  // namespace holdfast::scalar
