// Loops that choose between two operands, one for each size of element.
#pragma once

#include "holdfast/expr/expr.h"

namespace holdfast {

struct SelectTable {
  Loop loops[17] = {};  // by the bytes of an element
};

namespace baseline {
void add_select_loops(SelectTable&);
}
namespace avx2 {
void add_select_loops(SelectTable&);
}
namespace avx512 {
void add_select_loops(SelectTable&);
}

}  // namespace holdfast
