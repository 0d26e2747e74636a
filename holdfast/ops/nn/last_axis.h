// Ops that work on the last axis, used on any.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast {

/// Swaps one axis with the last, there and back.
class LastAxis {
 public:
  /// Refuses an axis that `like` does not have, in the name of `op`.
  LastAxis(const char* op, const Tensor& like, int64_t axis);
  Tensor there(const Tensor& t) const;
  Tensor back(const Tensor& t) const { return there(t); }
  bool moves() const { return moves_; }

 private:
  Dims swap_;
  bool moves_ = false;
};

/// The axes of a rank in their order, but for one, which comes last.
Dims with_last(int64_t rank, int64_t axis);

}  // namespace holdfast
