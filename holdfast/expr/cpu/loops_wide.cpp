// Loops over float64.
#include "holdfast/expr/cpu/make_loops.h"

namespace holdfast::HOLDFAST_ISA {

template <class T>
struct Mine : std::bool_constant<std::is_same_v<T, double>> {};

void add_wide_loops(LoopTable& t) { fill_all<Mine>(t); }

}  // namespace holdfast::HOLDFAST_ISA
