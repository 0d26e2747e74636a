// When elements count as one, for tables of them.
#pragma once

#include <vector>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

/// What a table of elements asks of their dtype: by functions that are called, so that there is one
/// table for all dtypes. Values are equal as `==` says: zeros of both signs are one, a NaN is like
/// nothing.
struct ElementRules {
  int64_t size;  // of one, in bytes
  /// Of n elements, and what was hashed before them; agrees with `same`.
  size_t (*hash)(const void* x, int64_t n, size_t before);
  bool (*same)(const void* a, const void* b, int64_t n);
  void (*copy)(const void* from, int64_t n, void* to);
};
ElementRules element_rules(DType);

/// Writes positions into a tensor of int32 or int64.
void put_indices(const std::vector<int64_t>& positions, Tensor& to);

}  // namespace holdfast
