#include "holdfast/ops/signal/cpu/fourier_loops.h"

namespace holdfast::signal {

template <class T>
const FourierLoops<T>& fourier_loops() {
  static const FourierLoops<T> table = [] {
    FourierLoops<T> t;
    HOLDFAST_BEST_ISA(fill_loops(t));
    return t;
  }();
  return table;
}
template const FourierLoops<float>& fourier_loops();
template const FourierLoops<double>& fourier_loops();

}  // namespace holdfast::signal
