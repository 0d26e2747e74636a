// Folds over integers and bool.
#include "holdfast/expr/cpu/make_folds.h"

namespace holdfast::HOLDFAST_ISA {

void add_integer_folds(FoldTable& t) {
  add_folds<bool>(t);
  add_folds<int8_t>(t);
  add_folds<int16_t>(t);
  add_folds<int32_t>(t);
  add_folds<int64_t>(t);
  add_folds<uint8_t>(t);
  add_folds<uint16_t>(t);
  add_folds<uint32_t>(t);
  add_folds<uint64_t>(t);
}

}  // namespace holdfast::HOLDFAST_ISA
