// What sorted and unsorted segment ops have in common.
#pragma once

#include "holdfast/op/op.h"

namespace holdfast {

enum class SegmentFold : uint8_t { kSum, kMean, kProd, kMax, kMin };

/// What a segment without rows holds.
enum class EmptySegment : uint8_t { kZero, kExtreme };

/// Folds the rows of `data` into the rows of `out` that `ids` name. A negative id drops its row,
/// one past the end is refused.
Status fold_segments(const char* op, SegmentFold, EmptySegment, const Tensor& data,
                     const Tensor& ids, const Tensor& out);

/// Gradients; `sum` and `prod` fold as the op under derivation does, over the same ids.
struct SegmentGradient {
  const Tensor& data;
  const Tensor& ids;
  const Tensor& out;
  Tensor (*fold)(SegmentFold, const Tensor& data, const Tensor& ids, const Tensor& out);

  /// Rows of `t` as the ids name them, zeros for dropped ones.
  Tensor rows_of(const Tensor& t) const;
  Tensor sum(const Tensor& dy) const { return rows_of(dy); }
  Tensor mean(const Tensor& dy) const;
  Tensor prod(const Tensor& dy) const;
  Tensor extreme(const Tensor& dy) const;
};

}  // namespace holdfast
