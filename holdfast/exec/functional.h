// Functions over the rows of a tensor, and choices among several functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "holdfast/exec/control.h"

namespace holdfast {

using RowFn = std::function<Tensor(const Tensor& row)>;
using FoldFn = std::function<Tensor(const Tensor& value, const Tensor& row)>;

/// `f` of each row of `x`, stacked.
HOLDFAST_API Tensor map_fn(const RowFn& f, In x);
/// `f(f(f(initial, row 0), row 1), ...)`; without `initial` it begins with row 0.
HOLDFAST_API Tensor foldl(const FoldFn& f, In x, MaybeIn initial = std::nullopt);
/// The same from the last row to the first.
HOLDFAST_API Tensor foldr(const FoldFn& f, In x, MaybeIn initial = std::nullopt);
/// All values on the way of `foldl`, stacked.
HOLDFAST_API Tensor scan(const FoldFn& f, In x, MaybeIn initial = std::nullopt);

/// What the branch with that number gives; the last one stands for any other number.
HOLDFAST_API Tensors switch_case(In index, const std::vector<BranchFn>& branches);
/// What the branch beside the first true predicate gives, else `otherwise`.
HOLDFAST_API Tensors case_of(const std::vector<std::pair<Tensor, BranchFn>>& pairs,
                             const BranchFn& otherwise);

/// The value that a symbol has for given values of its graph's inputs, by name.
HOLDFAST_API Tensor peek(const Tensor& symbol,
                         const std::vector<std::pair<std::string, Tensor>>& feed = {});

}  // namespace holdfast
