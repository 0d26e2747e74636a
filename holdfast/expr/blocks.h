// Operands of elementwise loops, a block at a time.
#pragma once

#include <algorithm>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "holdfast/base/parallel.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast {

inline constexpr int64_t kBlock = 1024;  // elements a block: a few kilobytes per operand, inside L1
inline constexpr int kMostOperands = 3;  // of a scalar instruction
inline constexpr int64_t kGrain = 32 * kBlock;  // elements worth handing to a thread

// Outputs of this many bytes leave every cache before anybody reads them: they are written past the
// caches, which saves reading the lines first. Several threads often have several caches. Two cores
// of a Zen 4, 16 MB of floats, milliseconds kept and past the caches: one op 1.12 and 0.62 at one
// thread, 0.31 and 0.32 at two; five ops, one reading the other's, 10.9 and 9.2, 4.6 and 5.1.
inline int64_t stream_from() {
  constexpr int64_t kOneCache = 16 << 20;
  return num_threads() > 1 ? 2 * kOneCache : kOneCache;
}

// Copies past the caches; `to` is 16-byte aligned and n a multiple of 64.
inline void stream(char* to, const char* from, int64_t n) {
#ifdef __SSE2__
  for (int64_t i = 0; i < n; i += 64) {
    const auto* f = reinterpret_cast<const __m128i*>(from + i);
    auto* t = reinterpret_cast<__m128i*>(to + i);
    __m128i a = _mm_load_si128(f), b = _mm_load_si128(f + 1), c = _mm_load_si128(f + 2),
            d = _mm_load_si128(f + 3);
    _mm_stream_si128(t, a);
    _mm_stream_si128(t + 1, b);
    _mm_stream_si128(t + 2, c);
    _mm_stream_si128(t + 3, d);
  }
#else
  std::memcpy(to, from, static_cast<size_t>(n));
#endif
}

/// Makes what was streamed visible to other threads.
inline void end_stream() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

// How one operand is read: a list of (size, stride) from the inside out, with dense axes joined.
struct Reader {
  const char* data;
  int64_t cell;
  bool dense;     // the whole operand in order: no axis repeats
  bool constant;  // one element
  Dims sizes, strides;

  Reader(const Tensor& t, const Shape& out)
      : data(static_cast<const char*>(t.raw())), cell(size_of(t.dtype())) {
    dense = t.shape() == out;
    constant = t.size() == 1;
    if (dense || constant) return;
    int64_t stride = 1;
    for (int i = 1; i <= out.rank(); ++i) {
      int64_t size = out[-i], own = i <= t.rank() ? t.dim(-i) : 1, step = own == 1 ? 0 : stride;
      stride *= own;
      if (size == 1) continue;
      bool joins = !sizes.empty() &&
                   (step == 0 ? strides.back() == 0
                              : strides.back() != 0 && step == strides.back() * sizes.back());
      if (joins)
        sizes.back() *= size;
      else {
        sizes.push_back(size);
        strides.push_back(step);
      }
    }
  }

  // Elements [begin, begin + n): in place where they lie in a row, else copied into `scratch`.
  const void* block(int64_t begin, int64_t n, char* scratch) const {
    if (dense) return data + begin * cell;
    int64_t index[kMaxRank], left = begin, at = 0;
    size_t rank = sizes.size();
    for (size_t k = 0; k < rank; ++k) {
      index[k] = left % sizes[k];
      left /= sizes[k];
      at += index[k] * strides[k];
    }
    if (strides[0] != 0 && index[0] + n <= sizes[0]) return data + at * cell;
    char* to = scratch;
    while (n > 0) {
      int64_t run = std::min(n, sizes[0] - index[0]);
      if (strides[0] != 0)
        std::memcpy(to, data + at * cell, static_cast<size_t>(run * cell));
      else
        repeat(to, data + at * cell, run);
      to += run * cell;
      n -= run;
      index[0] += run;
      at += run * strides[0];
      for (size_t k = 0; k < rank && index[k] == sizes[k]; ++k) {
        at -= sizes[k] * strides[k];
        index[k] = 0;
        if (k + 1 < rank) {
          ++index[k + 1];
          at += strides[k + 1];
        }
      }
    }
    return scratch;
  }

  // n copies of one element, doubled by memcpy, which is as wide as the machine allows.
  void repeat(char* to, const char* from, int64_t n) const {
    int64_t bytes = n * cell, done = std::min(cell, bytes);
    std::memcpy(to, from, static_cast<size_t>(done));
    for (int64_t step; done < bytes; done += step) {
      step = std::min(done, bytes - done);
      std::memcpy(to + done, to, static_cast<size_t>(step));
    }
  }
};

}  // namespace holdfast
