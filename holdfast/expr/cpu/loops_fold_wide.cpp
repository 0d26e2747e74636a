// Folds over float64 and complex numbers.
#include "holdfast/expr/cpu/make_folds.h"
#include "holdfast/tensor/complex.h"

namespace holdfast::HOLDFAST_ISA {

void add_wide_folds(FoldTable& t) {
  add_folds<double>(t);
  add_folds<complex64>(t);
  add_folds<complex128>(t);
}

}  // namespace holdfast::HOLDFAST_ISA
