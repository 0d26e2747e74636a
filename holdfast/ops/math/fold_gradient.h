// What gradients of reductions have in common.
#pragma once

#include "holdfast/op/grad.h"
#include "holdfast/op/in.h"

namespace holdfast {

/// `t`, shaped as the result of the reduction `g` (inputs: input, axis; FoldAttrs),
/// with the folded axes back as 1.
Tensor unfold(const Tensor& t, const Grad& g);
/// The same, repeated over the folded axes until it has the input's shape.
Tensor spread_over(const Tensor& t, const Grad& g);

/// A tensor seen as rows along some of its axes: [other axes, those axes].
class RowsOf {
 public:
  RowsOf(const Tensor& like, const Dims& axes);
  Tensor to_rows(const Tensor& t) const;
  Tensor from_rows(const Tensor& rows) const;

 private:
  Tensor like_;
  Dims there_, back_;  // permutations
  size_t kept_ = 0;    // of them come first
  bool moves_ = false;
  int64_t length_ = 1, count_ = 1;  // kUnknown where a dimension is
};

}  // namespace holdfast
