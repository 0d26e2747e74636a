// Loops in which one operand has a single element for each row.
#pragma once

#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/expr/expr.h"

namespace holdfast {

/// out[r * n + i] = f(in[0][r * n + i], in[1][r]), or with the two the other way round.
using RowLoop = void (*)(const void* const* in, void* out, int64_t rows, int64_t n);

struct RowTable {
  RowLoop loops[kNumScalars][kNumDTypes][2] = {};  // by the operand that has one element a row
  RowLoop spreads[17] = {};  // out[r * n + i] = in[0][r], by the bytes of an element
};

#define HOLDFAST_DECLARE_ROWS(isa) \
  namespace isa {                  \
  void add_row_loops(RowTable&);   \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE_ROWS)
#undef HOLDFAST_DECLARE_ROWS

/// Those of this machine's best instruction set.
const RowTable& row_table();

}  // namespace holdfast
