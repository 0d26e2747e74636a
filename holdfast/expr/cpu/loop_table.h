// One table of loops per instruction set; the same sources are compiled for each.
#pragma once

#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/expr/expr.h"

namespace holdfast {

struct LoopTable {
  Loop loops[kNumScalars][kNumDTypes] = {};
  Loop casts[kNumDTypes][kNumDTypes] = {};  // from, to
};

#define HOLDFAST_DECLARE_LOOPS(isa)   \
  namespace isa {                     \
  void add_float_loops(LoopTable&);   \
  void add_complex_loops(LoopTable&); \
  void add_integer_loops(LoopTable&); \
  void add_wide_loops(LoopTable&);    \
  void add_cast_loops(LoopTable&);    \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE_LOOPS)
#undef HOLDFAST_DECLARE_LOOPS

}  // namespace holdfast
