// Turns folds into loops. Included by loops_fold_*.cpp, which are compiled once per instruction
// set.
//
// Rows: 4 vectors of 64 bytes run side by side, so that additions do not wait for each other; runs
// of 16 steps make a block of kBlock elements, and blocks are joined in pairs. No sum is longer
// than a few dozen additions in a row, which keeps float32 sums accurate. Columns: eight rows at a
// time are folded as a tree before they meet the running cells. Elements that are folded in another
// type are converted a block at a time, so that the vector code exists once per (join, cell) and
// not once per dtype.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "holdfast/ops/math/cpu/reduce_table.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::HOLDFAST_ISA {

#define HF_INLINE inline __attribute__((always_inline))

// -- joins: two cells, or two vectors of cells, into one
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
    V most = a > b ? a : b;  // b where either is NaN
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
    V least = a < b ? a : b;
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
  static HF_INLINE Cell read(T x) { return static_cast<Cell>(x); }
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
  static HF_INLINE Cell read(T x) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      return static_cast<Cell>(static_cast<int64_t>(x));
    else
      return static_cast<Cell>(x);
  }
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
  static HF_INLINE Cell read(T x) {
    auto c = static_cast<Cell>(x);
    if constexpr (is_complex_v<T>)
      return Cell(c.real() * c.real() + c.imag() * c.imag());
    else if constexpr (std::is_integral_v<Cell>)
      return static_cast<Cell>(1u * c * c);
    else
      return c * c;
  }
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

constexpr int64_t kBlock = 4096;  // elements of a row folded without a join
constexpr int kDeepest = 52;      // log2 of the most blocks in a row

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
        typedef C V __attribute__((vector_size(64)));
        auto load = [&](int64_t at) __attribute__((always_inline)) -> V {
          V v;
          std::memcpy(&v, x + at, 64);
          return v;
        };
        constexpr int64_t kStep = 4 * kLanes, kRun = 16 * kStep;
        auto run = [&](int64_t from, int64_t to) __attribute__((always_inline)) -> V {
          V a = load(from), b = load(from + kLanes), d = load(from + 2 * kLanes),
            e = load(from + 3 * kLanes);
          for (int64_t k = from + kStep; k < to; k += kStep) {
            a = J::join(a, load(k));
            b = J::join(b, load(k + kLanes));
            d = J::join(d, load(k + 2 * kLanes));
            e = J::join(e, load(k + 3 * kLanes));
          }
          return J::join(J::join(a, b), J::join(d, e));
        };
        int64_t whole = n / kStep * kStep;
        V all = run(0, whole < kRun ? whole : kRun);
        for (i = kRun; i < whole; i += kRun)
          all = J::join(all, run(i, whole - i < kRun ? whole : i + kRun));
        i = whole;
        std::memcpy(lanes, &all, 64);
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

  // out[j] takes in rows of x, eight at a time as a tree.
  static __attribute__((noinline)) void columns(const C* x, int64_t count, int64_t stride,
                                                int64_t width, C* out) {
    int64_t r = 0;
    for (; r + 8 <= count; r += 8) {
      const C* p = x + r * stride;
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j)
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
};

// -- the loops over elements
template <class F, class T>
struct Loops {
  using Cell = typename F::Cell;
  using Join = typename F::Join;
  using C = Core<Join, Cell>;
  // Elements are cells as they lie in memory.
  static constexpr bool kDirect = std::is_same_v<T, Cell> && !std::is_base_of_v<Squares<T>, F>;
  static constexpr int64_t kConverted = 1024;

  static void convert(const T* x, int64_t n, Cell* to) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = F::read(x[i]);
  }

  static Cell block(const T* x, int64_t n) {
    if constexpr (kDirect) return C::block(x, n);
    Cell buffer[kConverted];
    convert(x, n, buffer);
    return C::block(buffer, n);
  }

  // Blocks are joined as a binary counter counts: neighbours of equal weight first.
  static Cell row(const T* x, int64_t n) {
    constexpr int64_t kStep = kDirect ? kBlock : kConverted;
    if (n <= kStep) return block(x, n);
    Cell stack[kDeepest + 2];
    int depth = 0;
    for (int64_t at = 0, number = 1; at < n; at += kStep, ++number) {
      stack[depth++] = block(x + at, n - at < kStep ? n - at : kStep);
      for (int64_t bits = number; !(bits & 1); bits >>= 1, --depth)
        stack[depth - 2] = Join::join(stack[depth - 2], stack[depth - 1]);
    }
    for (; depth > 1; --depth) stack[depth - 2] = Join::join(stack[depth - 2], stack[depth - 1]);
    return stack[0];
  }

  static void rows(const void* data, int64_t count, int64_t n, int64_t stride, void* cells) {
    auto* x = static_cast<const T*>(data);
    auto* out = static_cast<Cell*>(cells);
    if (n >= 16) {
      for (int64_t r = 0; r < count; ++r) out[r] = row(x + r * stride, n);
      return;
    }
    for (int64_t r = 0; r < count; ++r) {
      Cell c = F::read(x[r * stride]);
#pragma GCC unroll 1
      for (int64_t i = 1; i < n; ++i) c = Join::join(c, F::read(x[r * stride + i]));
      out[r] = c;
    }
  }

  static void tall_columns(const T* x, int64_t count, int64_t stride, int64_t width, Cell* out) {
    C::clear(out, width);
    if constexpr (kDirect) return C::columns(x, count, stride, width, out);
    Cell buffer[kConverted];
    for (int64_t r = 0; r < count; ++r)
      for (int64_t j = 0; j < width; j += kConverted) {
        int64_t n = width - j < kConverted ? width - j : kConverted;
        convert(x + r * stride + j, n, buffer);
        C::combine(out + j, buffer, n);
      }
  }

  // Narrow dense rows are seen as wider ones, so that vectors fill; the groups are joined last.
  static void columns(const void* data, int64_t count, int64_t stride, int64_t width, void* cells) {
    auto* x = static_cast<const T*>(data);
    auto* out = static_cast<Cell*>(cells);
    constexpr int64_t kNarrow = 32, kWide = 128;
    int64_t group = kWide / width;
    if (stride != width || width > kNarrow || count < 2 * group)
      return tall_columns(x, count, stride, width, out);
    Cell wide[kWide];
    int64_t across = group * width, tall = count / group;
    tall_columns(x, tall, across, across, wide);
    tall_columns(x + tall * across, count - tall * group, width, width, out);
    for (int64_t g = 0; g < group; ++g) C::combine(out, wide + g * width, width);
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
