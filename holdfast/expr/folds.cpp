#include "holdfast/expr/cpu/fold_table.h"

namespace holdfast {

const FoldLoops& fold_loops(Fold f, DType d) {
  static const FoldTable table = [] {
    FoldTable t;
    HOLDFAST_BEST_ISA(add_float_folds(t));
    HOLDFAST_BEST_ISA(add_integer_folds(t));
    HOLDFAST_BEST_ISA(add_wide_folds(t));
    return t;
  }();
  return table.loops[static_cast<int>(f)][static_cast<int>(d)];
}

}  // namespace holdfast
