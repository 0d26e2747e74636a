// An operand of a product, its rows moved apart where they lie unluckily.
#pragma once

#include <cstdint>

namespace holdfast::gemm {

/// Where oneDNN reads an operand in place, a row after the other, and the rows are a large power of
/// two apart, they all fall into the same few places of the caches and push each other out: with
/// AVX2 such products run at half speed. Such an operand is copied, with some space after each row,
/// into memory that this thread keeps: valid until the next one of the same `Role`.
class Spaced {
 public:
  enum Role { kLeft, kRight };
  /// `uses`: how often each element is read; 0 where it stays where it is.
  Spaced(Role, const float* from, int64_t rows, int64_t step, int64_t uses);
  const float* data() const { return data_; }
  int64_t step() const { return step_; }

  /// Whether oneDNN reads the operands of such a product in place.
  static bool in_place(int64_t m, int64_t n);

 private:
  const float* data_;
  int64_t step_;
};

}  // namespace holdfast::gemm
