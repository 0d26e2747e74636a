// Folds over float32 and the 16-bit floats.
#include "holdfast/expr/cpu/make_folds.h"

namespace holdfast::HOLDFAST_ISA {

void add_float_folds(FoldTable& t) {
  add_folds<float>(t);
  add_folds<half>(t);
  add_folds<bfloat>(t);
}

}  // namespace holdfast::HOLDFAST_ISA
