// Loops over integers and bool.
#include "holdfast/expr/cpu/make_loops.h"

namespace holdfast::HOLDFAST_ISA {

template <class T>
struct Mine : std::bool_constant<std::is_integral_v<T>> {};

void add_integer_loops(LoopTable& t) { fill_all<Mine>(t); }

}  // namespace holdfast::HOLDFAST_ISA
