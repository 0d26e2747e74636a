// One pass of a Fourier transform, compiled once per instruction set.
#pragma once

#include <cstdint>

#include "holdfast/expr/cpu/instruction_sets.h"

namespace holdfast::signal {

/// The numbers of a pass: real and imaginary parts lie apart, so that loops need no shuffles.
template <class T>
struct Parts {
  T *re, *im;
};

template <class T>
struct FourierLoops {
  /// Of `radix * rows` groups of `width` numbers each `radix` that are `rows` apart are
  /// transformed, multiplied by `twiddles` ([rows, radix - 1] real parts, then as many imaginary
  /// ones) and written beside each other. `roots` are the radix-th roots of one, for a radix
  /// above 5.
  void (*pass)(int radix, Parts<T> from, Parts<T> to, int64_t rows, int64_t width,
               const T* twiddles, const T* roots);
  /// to = from * factors, group by group of `width`; `factors` as [groups] real parts, then
  /// imaginary ones.
  void (*multiply)(Parts<T> from, Parts<T> to, int64_t groups, int64_t width, const T* factors);
};

#define HOLDFAST_DECLARE(isa)        \
  namespace isa {                    \
  template <class T>                 \
  void fill_loops(FourierLoops<T>&); \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE)
#undef HOLDFAST_DECLARE

/// Those of this machine's best instruction set.
template <class T>
const FourierLoops<T>& fourier_loops();

}  // namespace holdfast::signal
