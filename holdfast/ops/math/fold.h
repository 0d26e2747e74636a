// Reductions over axes on the CPU.
#pragma once

#include <span>

#include "holdfast/expr/cpu/fold_table.h"
#include "holdfast/op/in.h"
#include "holdfast/op/opdef.h"

namespace holdfast {

/// y = `x` folded over `axes` (in range, each once). `y` has as many elements as the other axes.
///
/// The work is cut by sizes alone and the pieces are joined in pairs, in one order: results do not
/// depend on the number of threads, and float32 sums stay accurate.
void fold(Fold, const Tensor& x, std::span<const int64_t> axes, const Tensor& y);

/// Attributes of reductions with inputs (input, axis), and their shape rule.
struct FoldAttrs {
  Attr<bool> keep_dims;
};
void infer_fold(Infer&);
/// The axes that input `i` of a call names, non-negative.
Dims fold_axes(const Call&, int i = 1);
/// The `axis` input for what the caller gave: all axes where nothing was given.
Tensor axes_input(const Tensor& x, const Axes& axis);

}  // namespace holdfast
