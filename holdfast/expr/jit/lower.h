// From the instructions of a list to operations on vectors.
#pragma once

#include <optional>
#include <span>

#include "holdfast/expr/fused.h"
#include "holdfast/expr/jit/value.h"

namespace holdfast::jit {

/// What an element of the dtype is in a register; nothing where machine code does not know it.
std::optional<Lane> lane_of(DType);

/// Writes one instruction over these operands. Nothing where no code is emitted for it: `avx512`
/// has a few that AVX2 lacks.
std::optional<V> lower(const Expr&, const Instruction&, std::span<const V> operands, bool avx512);

}  // namespace holdfast::jit
