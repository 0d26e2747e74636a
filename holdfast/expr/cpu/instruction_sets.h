// The instruction sets that loops are compiled for, each into a namespace of its own. A release has
// all of them, so that one library is fast everywhere; a developer's build has one.
#pragma once

#ifdef HOLDFAST_HAS_AVX512
#define HOLDFAST_WITH_AVX512(...) __VA_ARGS__
#else
#define HOLDFAST_WITH_AVX512(...)
#endif
#ifdef HOLDFAST_HAS_AVX2
#define HOLDFAST_WITH_AVX2(...) __VA_ARGS__
#else
#define HOLDFAST_WITH_AVX2(...)
#endif
#ifdef HOLDFAST_HAS_BASELINE
#define HOLDFAST_WITH_BASELINE(...) __VA_ARGS__
#else
#define HOLDFAST_WITH_BASELINE(...)
#endif

/// DECLARE(name) for each set of this build.
#define HOLDFAST_EACH_ISA(DECLARE)      \
  HOLDFAST_WITH_AVX512(DECLARE(avx512)) \
  HOLDFAST_WITH_AVX2(DECLARE(avx2))     \
  HOLDFAST_WITH_BASELINE(DECLARE(baseline))

/// A name in the namespace of the best set that this build and this machine both have:
/// `HOLDFAST_BEST_ISA(add_row_loops(table));`
#define HOLDFAST_BEST_ISA(...)                                                                \
  [&] {                                                                                       \
    switch (::holdfast::best_isa()) {                                                         \
      HOLDFAST_WITH_AVX512(case ::holdfast::Isa::kAvx512 : return avx512::__VA_ARGS__;)       \
      HOLDFAST_WITH_AVX2(case ::holdfast::Isa::kAvx2 : return avx2::__VA_ARGS__;)             \
      HOLDFAST_WITH_BASELINE(case ::holdfast::Isa::kBaseline : return baseline::__VA_ARGS__;) \
      default: ::holdfast::no_isa();                                                          \
    }                                                                                         \
  }()

namespace holdfast {

enum class Isa { kBaseline, kAvx2, kAvx512 };
Isa best_isa();
/// Refuses: this machine has none of the sets that were built.
[[noreturn]] void no_isa();

}  // namespace holdfast
