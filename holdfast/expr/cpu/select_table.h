// Loops that choose between two operands, one for each size of element.
#pragma once

#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/expr/expr.h"

namespace holdfast {

struct SelectTable {
  Loop loops[17] = {};  // by the bytes of an element
};

#define HOLDFAST_DECLARE_SELECTS(isa)  \
  namespace isa {                      \
  void add_select_loops(SelectTable&); \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE_SELECTS)
#undef HOLDFAST_DECLARE_SELECTS

}  // namespace holdfast
