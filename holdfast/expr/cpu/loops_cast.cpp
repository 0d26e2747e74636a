// Loops from each plain dtype to each other.
#include <limits>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "holdfast/expr/cpu/loop_table.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::HOLDFAST_ISA {
namespace {

// What the machine's conversion gives where C++ leaves it undefined: the lowest number.
template <class I, class F>
inline I whole(F x) {
  constexpr F low = static_cast<F>(std::numeric_limits<I>::min());
  return static_cast<I>(x >= low && x < -low ? x : low);
}

template <class To, class From>
inline To convert(From x) {
  if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>) {
      using P = typename To::value_type;
      return To(static_cast<P>(x.real()), static_cast<P>(x.imag()));
    } else {
      return convert<To>(x.real());
    }
  } else if constexpr (is_complex_v<To>) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Narrow integers by way of the next that holds them all, so that numbers wrap as TensorFlow's
    // do.
    if constexpr (std::is_same_v<To, uint64_t>) {
      constexpr From half = static_cast<From>(0x1p63), full = static_cast<From>(0x1p64);
      bool upper = x >= half && x < full;
      return static_cast<uint64_t>(whole<int64_t>(upper ? x - half : x)) +
             (upper ? uint64_t{1} << 63 : 0);
    } else if constexpr (std::is_same_v<To, uint32_t> || std::is_same_v<To, int64_t>) {
      return static_cast<To>(whole<int64_t>(x));
    } else {
      return static_cast<To>(whole<int32_t>(x));
    }
  } else {
    return static_cast<To>(x);
  }
}

// 16-bit floats go by way of float32, a piece at a time. Both steps are called: inlined, each would
// be compiled once for every pair of dtypes.
struct Step {
  Loop loop;
  int64_t size;  // of an element on its far side, in bytes
};
void by_way_of_float(Step to_float, Step from_float, const void* in, void* out, int64_t n) {
  constexpr int64_t kPiece = 1024;
  float piece[kPiece];
  const void* const pieces[] = {piece};
  for (int64_t at = 0; at < n; at += kPiece) {
    const int64_t m = n - at < kPiece ? n - at : kPiece;
    const void* const from[] = {static_cast<const char*>(in) + at * to_float.size};
    to_float.loop(from, piece, m);
    from_float.loop(pieces, static_cast<char*>(out) + at * from_float.size, m);
  }
}

template <class T>
inline constexpr bool is_short_float = !std::is_same_v<T, float_of<T>>;

#ifdef __F16C__
// The processor rounds as `half` does, but for NaN, which has one form there.
void to_half(const float* from, half* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m256 x = _mm256_loadu_ps(from + i);
    __m128i rounded = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    __m128i narrow = _mm_packs_epi32(_mm256_castsi256_si128(nan), _mm256_extracti128_si256(nan, 1));
    __m128i one_form =
        _mm_or_si128(_mm_and_si128(rounded, _mm_set1_epi16(short(0x8000))), _mm_set1_epi16(0x7e00));
    rounded = _mm_blendv_epi8(rounded, one_form, narrow);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), rounded);
  }
  for (; i < n; ++i) to[i] = half(from[i]);
}
#endif

template <class From, class To>
void loop(const void* const* in, void* out, int64_t n) {
#ifdef __F16C__
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, half>)
    return to_half(static_cast<const float*>(in[0]), static_cast<half*>(out), n);
#endif
  if constexpr ((is_short_float<From> && !std::is_same_v<To, float>) ||
                (is_short_float<To> && !std::is_same_v<From, float>)) {
    by_way_of_float({&loop<From, float>, sizeof(From)}, {&loop<float, To>, sizeof(To)}, in[0], out,
                    n);
  } else {
    auto* from = static_cast<const From*>(in[0]);
    auto* to = static_cast<To*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i)
      to[i] = static_cast<To>(convert<float_of<To>>(static_cast<float_of<From>>(from[i])));
  }
}

// Between integers only bits move: the sign of the result never matters, that of the operand where
// the result is wider.
template <class T>
inline constexpr bool is_number_of_bits = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T, bool kBits>
using as_bits =
    typename std::conditional_t<kBits, std::make_unsigned<T>, std::type_identity<T>>::type;

template <class From, class To>
constexpr Loop loop_for() {
  constexpr bool kIntegers = is_number_of_bits<From> && is_number_of_bits<To>;
  return &loop<as_bits<From, kIntegers && sizeof(To) <= sizeof(From)>, as_bits<To, kIntegers>>;
}

template <class F>
void for_each_plain(F&& f) {
  for (int d = 0; d < kNumDTypes; ++d) visit_plain(static_cast<DType>(d), f);
}

}  // namespace

void add_cast_loops(LoopTable& t) {
  for_each_plain([&]<class From>(From) {
    for_each_plain([&]<class To>(To) {
      t.casts[static_cast<int>(dtype_of<From>)][static_cast<int>(dtype_of<To>)] =
          loop_for<From, To>();
    });
  });
}

}  // namespace holdfast::HOLDFAST_ISA
