// What numbers of rows lead to. Stages that only choose or reorder elements hand on numbers, and
// whoever makes a batch of them gathers all of it at once.
#pragma once

#include <span>

#include "holdfast/exec/nested.h"

namespace holdfast::data {

class HOLDFAST_API Rows : public RefCounted {
 public:
  virtual int64_t size() const = 0;
  /// One row, as an element.
  virtual Nested row(int64_t i) const = 0;
  /// Rows side by side, as a batch.
  virtual Nested gather(std::span<const int64_t> rows) const = 0;
};

/// The rows of tensors, which all have `count` of them. A row, and a batch of rows that lie side by
/// side, look into the tensors; others are copied.
HOLDFAST_API Ref<Rows> rows_of(const Nested& tensors, int64_t count);
/// `start + i * step`, as scalars of a dtype.
HOLDFAST_API Ref<Rows> rows_of_range(int64_t start, int64_t step, int64_t count, DType dtype);

/// Elements side by side, as a batch. They have the same form, dtypes and shapes: the caller has
/// looked.
HOLDFAST_API Nested stacked(std::span<const Nested> elements);
/// Row `i` of a tensor, which looks into it.
HOLDFAST_API Tensor row_of(const Tensor& t, int64_t i);

}  // namespace holdfast::data
