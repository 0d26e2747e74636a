// Discrete Fourier transforms of any length: what follows from the length alone, found once.
#pragma once

#include <memory>
#include <vector>

#include "holdfast/ops/signal/cpu/fourier_loops.h"

namespace holdfast::signal {

/// out[k] = sum over j of in[j] e^(-2 pi i j k / n). Lengths of small prime factors take a pass for
/// each factor (Stockham, radix 4, 2, 3, 5, 7, 11 and 13); others are a convolution with a chirp of
/// a power of two (Bluestein), so that no length takes more than n log n.
template <class T>
class FourierPlan {
 public:
  explicit FourierPlan(int64_t n);

  int64_t size() const { return n_; }
  /// How many numbers of scratch memory `run` needs for so many lines.
  int64_t scratch(int64_t lines) const;
  /// Transforms `lines` lines at once, in place; number j of line q is at [j * lines + q]. The
  /// inverse, but for the factor 1 / n, is the transform of `{im, re}`.
  void run(Parts<T> x, int64_t lines, T* scratch) const;

 private:
  struct Pass {
    int radix;
    int64_t rows;             // groups of `radix` numbers, in each of the parts made so far
    std::vector<T> twiddles;  // [rows, radix - 1] real parts, then imaginary ones
    std::vector<T> roots;     // of one, for a large radix
  };
  void run_passes(Parts<T> x, int64_t lines, T* scratch) const;
  void run_chirp(Parts<T> x, int64_t lines, T* scratch) const;

  int64_t n_;
  std::vector<Pass> passes_;
  std::unique_ptr<FourierPlan> inner_;  // of a chirp: the convolution's
  std::vector<T> chirp_, kernel_;       // real parts, then imaginary ones
};

}  // namespace holdfast::signal
