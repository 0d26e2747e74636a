// Loops over float32 and float16, bfloat16.
#include "holdfast/expr/cpu/make_loops.h"

namespace holdfast::HOLDFAST_ISA {

namespace {

// Unnamed: each file has its own, and what is instantiated with it must not be merged with
// another's.
struct Mine {
  template <class T>
  static constexpr bool has =
      std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat>;
};

}  // namespace

void add_float_loops(LoopTable& t) { fill_all<Mine>(t); }

}  // namespace holdfast::HOLDFAST_ISA
