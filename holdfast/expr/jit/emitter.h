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

/// The code of `void f(char* const* at, int64_t n, int64_t rows, const int64_t* steps)`: `at` are
/// the function's arrays, each row has `n` elements, and from a row to the next array i goes on by
/// steps[i] bytes.
Emitted emit(const Function&, const Target&);

}  // namespace holdfast::jit
