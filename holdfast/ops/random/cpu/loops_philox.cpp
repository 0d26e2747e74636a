// Each block's four words stand in 64-bit lanes of four vectors, of which the lower halves count:
// products of 32 bits are what every instruction set has for such lanes.
#include <cstddef>
#include <cstring>
#include <utility>

#include "holdfast/ops/random/cpu/philox_loops.h"
#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace holdfast::HOLDFAST_ISA {
namespace {

#if defined(__AVX512F__)
constexpr size_t kBytes = 64;
#elif defined(__AVX2__)
constexpr size_t kBytes = 32;
#else
constexpr size_t kBytes = 16;
#endif
constexpr size_t kLanes = kBytes / 8;
constexpr size_t kBeside =
    kBytes == 16 ? 2 : 4;  // vectors side by side: a round waits for products
static_assert(kPhiloxBlocks % (kLanes * kBeside) == 0);

typedef uint64_t Vector __attribute__((vector_size(kBytes)));
typedef uint32_t Words __attribute__((vector_size(kBytes)));
typedef float Floats __attribute__((vector_size(kBytes)));

// Of the lower halves.
inline Vector product(Vector a, Vector b) {
#if defined(__AVX512F__)
  // Masked: GCC warns of what the plain one leaves undefined in its own header.
  return reinterpret_cast<Vector>(
      _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Vector>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__x86_64__)
  return reinterpret_cast<Vector>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

template <size_t... I>
inline Vector counted(uint64_t first, std::index_sequence<I...>) {
  return Vector{(first + I)...};
}
// Lanes of both in turns, from the middle on where `kUpper`.
template <bool kUpper, size_t... I>
inline Vector in_turns(Vector a, Vector b, std::index_sequence<I...>) {
  constexpr size_t kFirst = kUpper ? kLanes / 2 : 0;
  return __builtin_shufflevector(a, b, (kFirst + I / 2 + I % 2 * kLanes)...);
}

inline void store(Vector v, uint32_t* to) { std::memcpy(to, &v, kBytes); }
inline void store(Vector v, float* to) {
  Words bits = (reinterpret_cast<Words>(v) & 0x7fffffu) | 0x3f800000u;
  Floats f = reinterpret_cast<Floats>(bits) - 1.0f;
  std::memcpy(to, &f, kBytes);
}

template <class T>
void fill(const random::Philox& gen, int64_t blocks, T* out) {
  constexpr auto kAll = std::make_index_sequence<kLanes>();
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  const Vector factor0 = Vector{} + 0xD2511F53u, factor1 = Vector{} + 0xCD9E8D57u;
  for (int64_t b = 0; b < blocks; b += kLanes * kBeside, out += 4 * kLanes * kBeside) {
    Vector c0[kBeside], c1[kBeside], c2[kBeside], c3[kBeside];
    for (size_t i = 0; i < kBeside; ++i) {
      uint64_t first = gen.counter_lo + static_cast<uint64_t>(b) + i * kLanes;
      c0[i] = counted(first, kAll);
      c1[i] = c0[i] >> 32;
      // One more where the lower half began anew.
      c2[i] = Vector{} + gen.counter_hi - reinterpret_cast<Vector>(c0[i] < gen.counter_lo);
      c3[i] = c2[i] >> 32;
    }
    auto k0 = static_cast<uint32_t>(gen.key), k1 = static_cast<uint32_t>(gen.key >> 32);
    for (int round = 0; round < 10; ++round, k0 += kWeyl0, k1 += kWeyl1)
      for (size_t i = 0; i < kBeside; ++i) {
        Vector p0 = product(factor0, c0[i]), p1 = product(factor1, c2[i]);
        c0[i] = (p1 >> 32) ^ c1[i] ^ k0;
        c1[i] = p1;
        c2[i] = (p0 >> 32) ^ c3[i] ^ k1;
        c3[i] = p0;
      }
    for (size_t i = 0; i < kBeside; ++i) {
      Vector first = (c0[i] & 0xffffffffu) | c1[i] << 32;
      Vector second = (c2[i] & 0xffffffffu) | c3[i] << 32;
      store(in_turns<false>(first, second, kAll), out + 4 * kLanes * i);
      store(in_turns<true>(first, second, kAll), out + 4 * kLanes * i + 2 * kLanes);
    }
  }
}

}  // namespace

void philox_words(const random::Philox& gen, int64_t blocks, uint32_t* out) {
  fill(gen, blocks, out);
}
void philox_uniform(const random::Philox& gen, int64_t blocks, float* out) {
  fill(gen, blocks, out);
}

}  // namespace holdfast::HOLDFAST_ISA
