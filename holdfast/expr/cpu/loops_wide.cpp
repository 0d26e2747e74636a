// Loops over float64.
#include "holdfast/expr/cpu/make_loops.h"

namespace holdfast::HOLDFAST_ISA {

namespace {

// Unnamed: each file has its own, and what is instantiated with it must not be merged with
// another's.
struct Mine {
  template <class T>
  static constexpr bool has = std::is_same_v<T, double>;
};

}  // namespace

void add_wide_loops(LoopTable& t) { fill_all<Mine>(t); }

}  // namespace holdfast::HOLDFAST_ISA
