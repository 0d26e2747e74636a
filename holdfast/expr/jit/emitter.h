// x86 machine code of a body.
#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/expr/jit/body.h"

namespace holdfast::jit {

struct Target {
  bool avx512 = false;
  bool streams = false;  // results are written past the caches: they are aligned, and whole vectors
  bool operator==(const Target&) const = default;
};

/// The code of a function `void f(char* const* at, int64_t n, int64_t rows)`: `at` are the arrays
/// and singles in the order of the body's operands, then those that stores write; each row has `n`
/// elements, and a single of its own where an operand says so. Runs wherever it is copied to, on a
/// boundary of 64 bytes. Empty where the body is too long for it.
std::vector<uint8_t> emit(const Body&, const Target&);

}  // namespace holdfast::jit
