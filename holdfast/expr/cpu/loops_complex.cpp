// Loops over complex64 and complex128.
#include "holdfast/expr/cpu/make_loops.h"

namespace holdfast::HOLDFAST_ISA {

namespace {

// Unnamed: each file has its own, and what is instantiated with it must not be merged with
// another's.
struct Mine {
  template <class T>
  static constexpr bool has = is_complex_v<T>;
};

}  // namespace

void add_complex_loops(LoopTable& t) { fill_all<Mine>(t); }

}  // namespace holdfast::HOLDFAST_ISA
