#include "holdfast/expr/cpu/instruction_sets.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/expr/expr.h"

namespace holdfast {

Isa best_isa() {
  static const Isa best = [] {
    [[maybe_unused]] bool avx512 =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    [[maybe_unused]] bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    HOLDFAST_WITH_AVX512(if (avx512) return Isa::kAvx512;)
    HOLDFAST_WITH_AVX2(if (avx2) return Isa::kAvx2;)
    return Isa::kBaseline;
  }();
  return best;
}

void no_isa() {
  fail(Code::E1105, "this machine has none of the instruction sets that Holdfast was built for",
       "a developer's build has loops for one instruction set",
       {manual_fix("build with -DHOLDFAST_INSTRUCTION_SETS=\"baseline;avx2;avx512\"")});
}

const char* instruction_set() {
  switch (best_isa()) {
    case Isa::kAvx512: return "avx512";
    case Isa::kAvx2: return "avx2";
    default: return "baseline";
  }
}

}  // namespace holdfast
