// Turns folds into loops. Included by loops_fold_*.cpp, which are compiled once per instruction
// set.
//
// Rows: 4 vectors of 64 bytes run side by side, so that additions do not wait for each other; runs
// of 16 steps make a block of kBlock elements, and blocks are joined in pairs. No sum is longer
// than a few dozen additions in a row, which keeps float32 sums accurate. Columns: eight rows at a
// time are folded as a tree before they meet the running cells. Elements that are folded in another
// type are converted a block at a time by a function that is called, so that the loops exist once
// per (join, cell) and not once per fold and dtype: that halves what they cost to compile.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "holdfast/expr/cpu/fold_table.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::HOLDFAST_ISA {

#define HF_INLINE inline __attribute__((always_inline))

#if defined(__AVX512F__)
constexpr int kRegister = 64;  // bytes
#elif defined(__AVX2__)
constexpr int kRegister = 32;
#else
constexpr int kRegister = 16;
#endif

// -- joins: two cells, or two vectors of cells, into one

// a > b ? a : b and a < b ? a : b. The processor's own instructions do exactly that, NaN and zeros
// included; GCC compares and then chooses.
template <class V>
HF_INLINE V larger(V a, V b) {
  return a > b ? a : b;
}
template <class V>
HF_INLINE V smaller(V a, V b) {
  return a < b ? a : b;
}
#ifdef __AVX2__
typedef float Floats __attribute__((vector_size(kRegister)));
typedef double Doubles __attribute__((vector_size(kRegister)));
#ifdef __AVX512F__  // masked: GCC warns of what the plain ones leave undefined in their own header
HF_INLINE Floats larger(Floats a, Floats b) { return Floats(_mm512_mask_max_ps(a, 0xffff, a, b)); }
HF_INLINE Floats smaller(Floats a, Floats b) { return Floats(_mm512_mask_min_ps(a, 0xffff, a, b)); }
HF_INLINE Doubles larger(Doubles a, Doubles b) {
  return Doubles(_mm512_mask_max_pd(a, 0xff, a, b));
}
HF_INLINE Doubles smaller(Doubles a, Doubles b) {
  return Doubles(_mm512_mask_min_pd(a, 0xff, a, b));
}
#else
HF_INLINE Floats larger(Floats a, Floats b) { return Floats(_mm256_max_ps(a, b)); }
HF_INLINE Floats smaller(Floats a, Floats b) { return Floats(_mm256_min_ps(a, b)); }
HF_INLINE Doubles larger(Doubles a, Doubles b) { return Doubles(_mm256_max_pd(a, b)); }
HF_INLINE Doubles smaller(Doubles a, Doubles b) { return Doubles(_mm256_min_pd(a, b)); }
#endif
#endif

struct Add {
  template <class C>
  static constexpr C nothing() {
    return C(0);
  }
  template <class V>
  static HF_INLINE V join(V a, V b) {
    return V(a + b);
  }
};
struct Mul {
  template <class C>
  static constexpr C nothing() {
    return C(1);
  }
  template <class V>
  static HF_INLINE V join(V a, V b) {
    if constexpr (is_complex_v<V>)
      return V(a.real() * b.real() - a.imag() * b.imag(),
               a.real() * b.imag() + a.imag() * b.real());
    // 16-bit operands would be promoted to a signed int, whose product overflows.
    else if constexpr (std::is_integral_v<V>)
      return static_cast<V>(1u * a * b);
    else
      return V(a * b);
  }
};
// A NaN, once seen, stays.
struct Most {
  template <class C>
  static constexpr C nothing() {
    using Limits = std::numeric_limits<C>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  template <class V>
  static HF_INLINE V join(V a, V b) {
    V most = larger(a, b);  // b where either is NaN
    return a != a ? a : most;
  }
};
struct Least {
  template <class C>
  static constexpr C nothing() {
    using Limits = std::numeric_limits<C>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <class V>
  static HF_INLINE V join(V a, V b) {
    V least = smaller(a, b);
    return a != a ? a : least;
  }
};

// -- folds: what an element contributes, and what becomes of the cell
template <class T>
using unsigned_of = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                                std::type_identity<T>>::type;

// Narrow integers are folded in 32 bits: a result is cut to its size, and wraps there as it would
// have on the way.
template <class T>
using cell_of = std::conditional_t<!std::is_integral_v<T> || sizeof(T) >= 4, float_of<T>,
                                   std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>;

template <class T>
struct Sum {
  using Join = Add;
  using Cell = cell_of<T>;
  static constexpr bool kSquared = false;
  static T result(Cell c, int64_t) { return static_cast<T>(c); }
};
template <class T>
struct Prod : Sum<T> {
  using Join = Mul;
};
// The extreme of no integers is T's own, not the cell's.
template <class Join, class T, class Cell>
T extreme(Cell c, int64_t n) {
  if constexpr (std::is_integral_v<T>)
    if (n == 0) return Join::template nothing<T>();
  return static_cast<T>(c);
}
template <class T>
struct Max : Sum<T> {
  using Join = Most;
  using typename Sum<T>::Cell;
  static T result(Cell c, int64_t n) { return extreme<Join, T>(c, n); }
};
template <class T>
struct Min : Sum<T> {
  using Join = Least;
  using typename Sum<T>::Cell;
  static T result(Cell c, int64_t n) { return extreme<Join, T>(c, n); }
};
// An integer mean is a sum in 64 bits, so that it does not wrap where its result would fit.
template <class T>
struct Mean {
  using Join = Add;
  using Cell = std::conditional_t<std::is_integral_v<T>, uint64_t, float_of<T>>;
  static constexpr bool kSquared = false;
  static T result(Cell c, int64_t n) {
    if constexpr (is_complex_v<T>)
      return n ? c / static_cast<typename T::value_type>(n) : T(0);
    else if constexpr (!std::is_integral_v<T>)
      return static_cast<T>(c / static_cast<Cell>(n));
    else if (n == 0)
      return T(0);
    else if constexpr (std::is_signed_v<T>)
      return static_cast<T>(static_cast<int64_t>(c) / n);
    else
      return static_cast<T>(c / static_cast<uint64_t>(n));
  }
};
template <class T>
struct Squares {
  using Join = Add;
  using Cell = cell_of<unsigned_of<T>>;
  static constexpr bool kSquared = true;
  static T result(Cell c, int64_t) {
    if constexpr (is_complex_v<T>)
      return T(std::sqrt(c.real()));
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::sqrt(static_cast<double>(static_cast<unsigned_of<T>>(c))));
    else
      return static_cast<T>(std::sqrt(c));
  }
};
template <class T>
struct HalfSquares : Squares<T> {
  using typename Squares<T>::Cell;
  static T result(Cell c, int64_t) { return static_cast<T>(c / 2); }
};

constexpr int64_t kBlock = 4096;      // cells of a row folded without a join
constexpr int64_t kConverted = 1024;  // elements that are converted at a time
constexpr int kDeepest = 52;          // log2 of the most blocks in a row

template <class T, class C, bool kSquared>
void converted(const void* elements, int64_t n, C* to) {
  auto* x = static_cast<const T*>(elements);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    auto c = static_cast<C>(x[i]);
    if constexpr (!kSquared)
      to[i] = c;
    else if constexpr (is_complex_v<C>)
      to[i] = C(c.real() * c.real() + c.imag() * c.imag());
    else if constexpr (std::is_integral_v<C>)
      to[i] = static_cast<C>(1u * c * c);
    else
      to[i] = c * c;
  }
}

// Elements in memory, and how they become cells.
template <class C>
struct Elements {
  const char* data;
  int64_t size;                                    // of one, in bytes
  void (*convert)(const void*, int64_t n, C* to);  // null: they are cells as they lie there

  const C* as_cells(int64_t from) const { return reinterpret_cast<const C*>(data) + from; }
  // n of them as cells; `buffer` holds what has to be converted.
  const C* cells(int64_t from, int64_t n, C* buffer) const {
    if (!convert) return as_cells(from);
    convert(data + from * size, n, buffer);
    return buffer;
  }
};

// 64 bytes on every instruction set, so that all of them add in the same order, in vectors that it
// has: GCC compares and chooses in wider ones element by element.
template <class C>
struct VectorOf {
  typedef C Type __attribute__((vector_size(kRegister)));
};
template <class J, class C, class Parts = std::make_index_sequence<64 / kRegister>>
struct Lanes;
template <class J, class C, size_t... kPart>
struct Lanes<J, C, std::index_sequence<kPart...>> {
  using Vector = typename VectorOf<C>::Type;
  static constexpr int64_t kCells = kRegister / static_cast<int64_t>(sizeof(C));  // of a vector
  Vector part[sizeof...(kPart)];

  static HF_INLINE Vector vector(const C* x) {
    Vector v;
    std::memcpy(&v, x, sizeof v);
    return v;
  }
  static HF_INLINE Lanes load(const C* x) { return {{vector(x + kPart * kCells)...}}; }
  HF_INLINE void store(C* to) const {
    (std::memcpy(to + kPart * kCells, &part[kPart], sizeof(Vector)), ...);
  }
  static HF_INLINE Lanes join(const Lanes& a, const Lanes& b) {
    return {{J::join(a.part[kPart], b.part[kPart])...}};
  }
};

// -- the loops over cells
template <class J, class C>
struct Core {
  static constexpr bool kVectors = std::is_arithmetic_v<C>;
  static constexpr int64_t kLanes = kVectors ? static_cast<int64_t>(64 / sizeof(C)) : 4;

  // Four runs of lanes side by side, then a tree over the lanes.
  static __attribute__((noinline)) C block(const C* x, int64_t n) {
    C c = J::template nothing<C>();
    int64_t i = 0;
    if (n >= 4 * kLanes) {
      C lanes[kLanes];
      if constexpr (kVectors) {
        using V = Lanes<J, C>;
        constexpr int64_t kStep = 4 * kLanes, kRun = 16 * kStep;
        auto run = [&](int64_t from, int64_t to) __attribute__((always_inline)) -> V {
          const C* p = x + from;
          V a = V::load(p), b = V::load(p + kLanes), d = V::load(p + 2 * kLanes),
            e = V::load(p + 3 * kLanes);
          for (p += kStep; p < x + to; p += kStep) {
            a = V::join(a, V::load(p));
            b = V::join(b, V::load(p + kLanes));
            d = V::join(d, V::load(p + 2 * kLanes));
            e = V::join(e, V::load(p + 3 * kLanes));
          }
          return V::join(V::join(a, b), V::join(d, e));
        };
        int64_t whole = n / kStep * kStep;
        V all = run(0, whole < kRun ? whole : kRun);
        for (i = kRun; i < whole; i += kRun)
          all = V::join(all, run(i, whole - i < kRun ? whole : i + kRun));
        i = whole;
        all.store(lanes);
      } else {
        for (int64_t k = 0; k < kLanes; ++k) lanes[k] = x[k];
        for (i = kLanes; i + kLanes <= n; i += kLanes)
          for (int64_t k = 0; k < kLanes; ++k) lanes[k] = J::join(lanes[k], x[i + k]);
      }
#pragma GCC unroll 1
      for (int64_t half = kLanes / 2; half > 0; half /= 2)
#pragma GCC unroll 1
        for (int64_t k = 0; k < half; ++k) lanes[k] = J::join(lanes[k], lanes[k + half]);
      c = lanes[0];
    }
#pragma GCC unroll 1
    for (; i < n; ++i) c = J::join(c, x[i]);
    return c;
  }

  static HF_INLINE C pair(const C* p, int64_t stride) { return J::join(p[0], p[stride]); }
  static HF_INLINE auto lanes_pair(const C* p, int64_t stride) {
    using V = Lanes<J, C>;
    return V::join(V::load(p), V::load(p + stride));
  }
  // Extremes of floats are faster in vectors that are written out: see `larger`.
  static constexpr bool kWrittenOut =
      std::is_floating_point_v<C> && (std::is_same_v<J, Most> || std::is_same_v<J, Least>);

  // out[j] takes in rows of x, eight at a time as a tree.
  static __attribute__((noinline)) void take_rows(const C* x, int64_t count, int64_t stride,
                                                  int64_t width, C* out) {
    int64_t r = 0;
    for (; r + 8 <= count; r += 8) {
      const C* p = x + r * stride;
      int64_t first = 0;
      if constexpr (kWrittenOut) {
        using V = Lanes<J, C>;
        for (; first + kLanes <= width; first += kLanes) {
          const C* q = p + first;
          V::join(V::load(out + first),
                  V::join(V::join(lanes_pair(q, stride), lanes_pair(q + 2 * stride, stride)),
                          V::join(lanes_pair(q + 4 * stride, stride),
                                  lanes_pair(q + 6 * stride, stride))))
              .store(out + first);
        }
      }
#pragma GCC ivdep
      for (int64_t j = first; j < width; ++j)
        out[j] = J::join(
            out[j],
            J::join(J::join(pair(p + j, stride), pair(p + j + 2 * stride, stride)),
                    J::join(pair(p + j + 4 * stride, stride), pair(p + j + 6 * stride, stride))));
    }
    for (; r < count; ++r) combine(out, x + r * stride, width);
  }

  static void combine(void* cells, const void* more, int64_t n) {
    auto* a = static_cast<C*>(cells);
    auto* b = static_cast<const C*>(more);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) a[i] = J::join(a[i], b[i]);
  }

  static void clear(void* cells, int64_t n) {
    auto* a = static_cast<C*>(cells);
    for (int64_t i = 0; i < n; ++i) a[i] = J::template nothing<C>();
  }

  // Blocks are joined as a binary counter counts: neighbours of equal weight first.
  static C row(const Elements<C>& x, int64_t from, int64_t n) {
    C buffer[kConverted];
    const int64_t step = x.convert ? kConverted : kBlock;
    if (n <= step) return block(x.cells(from, n, buffer), n);
    C stack[kDeepest + 2];
    int depth = 0;
    for (int64_t at = 0, number = 1; at < n; at += step, ++number) {
      int64_t some = n - at < step ? n - at : step;
      stack[depth++] = block(x.cells(from + at, some, buffer), some);
      for (int64_t bits = number; !(bits & 1); bits >>= 1, --depth)
        stack[depth - 2] = J::join(stack[depth - 2], stack[depth - 1]);
    }
    for (; depth > 1; --depth) stack[depth - 2] = J::join(stack[depth - 2], stack[depth - 1]);
    return stack[0];
  }

  static __attribute__((noinline)) void rows(const Elements<C>& x, int64_t count, int64_t n,
                                             int64_t stride, C* out) {
    if (n >= 16) {
      for (int64_t r = 0; r < count; ++r) out[r] = row(x, r * stride, n);
      return;
    }
    // Short rows that lie side by side are converted together.
    C buffer[kConverted];
    const int64_t together = !x.convert    ? count
                             : stride == n ? kConverted / n
                                           : 1,
                  step = x.convert ? n : stride;
    for (int64_t r = 0; r < count; r += together) {
      const int64_t some = count - r < together ? count - r : together;
      const C* p = x.cells(r * stride, some * n, buffer);
      for (int64_t k = 0; k < some; ++k, p += step) {
        C c = p[0];
#pragma GCC unroll 1
        for (int64_t i = 1; i < n; ++i) c = J::join(c, p[i]);
        out[r + k] = c;
      }
    }
  }

  static void tall_columns(const Elements<C>& x, int64_t from, int64_t count, int64_t stride,
                           int64_t width, C* out) {
    clear(out, width);
    if (!x.convert) return take_rows(x.as_cells(from), count, stride, width, out);
    C buffer[kConverted];
    for (int64_t r = 0; r < count; ++r)
      for (int64_t j = 0; j < width; j += kConverted) {
        int64_t n = width - j < kConverted ? width - j : kConverted;
        combine(out + j, x.cells(from + r * stride + j, n, buffer), n);
      }
  }

  // Narrow dense rows are seen as wider ones, so that vectors fill; the groups are joined last.
  static __attribute__((noinline)) void columns(const Elements<C>& x, int64_t count, int64_t stride,
                                                int64_t width, C* out) {
    constexpr int64_t kNarrow = 32, kWide = 128;
    int64_t group = kWide / width;
    if (stride != width || width > kNarrow || count < 2 * group)
      return tall_columns(x, 0, count, stride, width, out);
    C wide[kWide];
    int64_t across = group * width, tall = count / group;
    tall_columns(x, 0, tall, across, across, wide);
    tall_columns(x, tall * across, count - tall * group, width, width, out);
    for (int64_t g = 0; g < group; ++g) combine(out, wide + g * width, width);
  }
};

// -- a fold of elements of one type
template <class F, class T>
struct Loops {
  using Cell = typename F::Cell;
  using C = Core<typename F::Join, Cell>;

  static Elements<Cell> elements(const void* data) {
    constexpr bool direct = std::is_same_v<T, Cell> && !F::kSquared;
    return {static_cast<const char*>(data), sizeof(T),
            direct ? nullptr : &converted<T, Cell, F::kSquared>};
  }
  static Cell row(const T* x, int64_t n) { return C::row(elements(x), 0, n); }
  static void rows(const void* x, int64_t count, int64_t n, int64_t stride, void* cells) {
    C::rows(elements(x), count, n, stride, static_cast<Cell*>(cells));
  }
  static void columns(const void* x, int64_t count, int64_t stride, int64_t width, void* cells) {
    C::columns(elements(x), count, stride, width, static_cast<Cell*>(cells));
  }

  static void finish(const void* cells, int64_t n, int64_t count, void* out) {
    auto* a = static_cast<const Cell*>(cells);
    auto* o = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) o[i] = F::result(a[i], count);
  }

  static constexpr FoldLoops kLoops = {rows,     columns, C::combine,
                                       C::clear, finish,  static_cast<int64_t>(sizeof(Cell))};
};

// T as the table knows it, folded as Bits: a type of the same bits that wraps or orders as T
// should.
template <template <class> class F, class T, class Bits = T>
void put(FoldTable& t, Fold fold) {
  t.loops[static_cast<int>(fold)][static_cast<int>(dtype_of<T>)] = Loops<F<Bits>, Bits>::kLoops;
}

template <class T>
void add_folds(FoldTable& t) {
  if constexpr (!is_complex_v<T>) {
    using Byte = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    put<Max, T, Byte>(t, Fold::kMax);
    put<Min, T, Byte>(t, Fold::kMin);
  }
  if constexpr (!std::is_same_v<T, bool>) {
    put<Sum, T, unsigned_of<T>>(t, Fold::kSum);
    put<Prod, T, unsigned_of<T>>(t, Fold::kProd);
    put<Mean, T>(t, Fold::kMean);
    put<Squares, T>(t, Fold::kSquares);
  }
  if constexpr (kFloats.has(dtype_of<T>)) put<HalfSquares, T>(t, Fold::kHalfSquares);
}

}  // namespace holdfast::HOLDFAST_ISA
