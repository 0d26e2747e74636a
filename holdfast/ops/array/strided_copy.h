// The one loop behind ops that only move elements: transpose, broadcast, slices, tile, reverse.
#pragma once

#include <span>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

/// One axis of a box of elements; strides are in elements and may be zero or negative.
struct CopyAxis {
  int64_t size;
  int64_t from, to;
};
using CopyAxes = InlineVector<CopyAxis, 8>;

/// to[sum i_k * axis_k.to] = from[sum i_k * axis_k.from] for all i in the box. Axes are merged
/// where they can be, so callers need not; two axes may not write one element.
void copy_strided(DType, CopyAxes, const void* from, void* to);
/// `n` elements in a row.
void copy_run(DType, int64_t n, const void* from, void* to);
/// The same value `n` times.
void fill_run(DType, int64_t n, const void* value, void* to);
/// Zeros, false or empty strings.
void fill_zeros(const Tensor& t);

/// The address of element `i` of memory that holds `d`s.
inline const void* element(const void* p, DType d, int64_t i) {
  return static_cast<const char*>(p) + i * size_of(d);
}
inline void* element(void* p, DType d, int64_t i) { return static_cast<char*>(p) + i * size_of(d); }

/// Sizes before, at and behind an axis of a dense tensor: element (o, i, k) is at (o * size + i) *
/// inner + k.
struct Around {
  int64_t outer = 1, size = 1, inner = 1;
};
inline Around around(const Shape& s, int axis) {
  if (s.elements().value_or(0) == 0)
    return {0, axis < s.rank() ? s[axis] : 1, 0};  // products may overflow
  Around a;
  for (int i = 0; i < s.rank(); ++i) (i < axis ? a.outer : i == axis ? a.size : a.inner) *= s[i];
  return a;
}

}  // namespace holdfast
