// Philox over many blocks at once, one set of loops per instruction set. The words are those that
// blocks have one by one.
#pragma once

#include <cstdint>

#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/ops/random/philox.h"

namespace holdfast {

/// Blocks that the loops make at once: calls are for multiples of them.
inline constexpr int64_t kPhiloxBlocks = 32;

/// The words of `blocks` blocks, in order; and the floats in [0, 1) that they become.
#define HOLDFAST_DECLARE_PHILOX(isa)                                           \
  namespace isa {                                                              \
  void philox_words(const random::Philox& gen, int64_t blocks, uint32_t* out); \
  void philox_uniform(const random::Philox& gen, int64_t blocks, float* out);  \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE_PHILOX)
#undef HOLDFAST_DECLARE_PHILOX

}  // namespace holdfast
