// x86 machine code of a body.
#pragma once

#include <cstdint>
#include <memory>

#include "holdfast/expr/jit/body.h"

namespace holdfast::jit {

struct Target {
  bool avx512 = false;
  bool streams = false;  // results are written past the caches: they are aligned, and whole vectors
  bool operator==(const Target&) const = default;
};

/// A function among its constants; runs wherever it is copied to, on a boundary of 64 bytes.
struct Emitted {
  std::unique_ptr<uint8_t[]> bytes;
  size_t size = 0;   // 0: the body is too long for it
  size_t entry = 0;  // where the function begins
};

/// The code of a function `void f(char* const* at, int64_t n, int64_t rows)`: `at` are the arrays
/// and singles in the order of the body's operands, then those that stores write; each row has `n`
/// elements, and a single of its own where an operand says so.
Emitted emit(const Body&, const Target&);

}  // namespace holdfast::jit
