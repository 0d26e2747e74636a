// Functions over the rows of a tensor, and choices among several functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "holdfast/exec/control.h"
#include "holdfast/ops/list.h"

namespace holdfast {

using RowFn = Callback<Tensor(const Tensor& row)>;
using FoldFn = Callback<Tensor(const Tensor& value, const Tensor& row)>;

struct MapOptions {
  bool back_prop = true;    // false: gradients end at the result
  bool infer_shape = true;  // false: rows of the result may be of several shapes, if they stack
  std::optional<ElementType> fn_output_signature = {};  // a row of the result; needed without rows
};
/// `fn` of each row of `elems`, stacked.
HOLDFAST_API Tensor map_fn(const RowFn& fn, In elems, const MapOptions& = {});

struct FoldOptions {
  bool back_prop = true;
};
/// `fn(fn(fn(initializer, row 0), row 1), ...)`; without `initializer` it begins with row 0.
HOLDFAST_API Tensor foldl(const FoldFn& fn, In elems, MaybeIn initializer = std::nullopt,
                          const FoldOptions& = {});
/// The same from the last row to the first.
HOLDFAST_API Tensor foldr(const FoldFn& fn, In elems, MaybeIn initializer = std::nullopt,
                          const FoldOptions& = {});

struct ScanOptions {
  bool back_prop = true;
  bool infer_shape = true;
  bool reverse = false;  // from the last row to the first; the results stand where their rows do
};
/// All values on the way of `foldl`, stacked.
HOLDFAST_API Tensor scan(const FoldFn& fn, In elems, MaybeIn initializer = std::nullopt,
                         const ScanOptions& = {});

/// What the branch with that number gives; `default_fn`, or the last one without it, stands for any
/// other number.
HOLDFAST_API Tensors switch_case(In branch_index, const std::vector<BranchFn>& branch_fns,
                                 const BranchFn& default_fn = nullptr);

struct CaseOptions {
  bool exclusive = false;  // stops where several predicates hold
};
namespace detail {
HOLDFAST_API Tensors choose_case(const std::vector<std::pair<Tensor, BranchFn>>& pred_fn_pairs,
                                 const BranchFn& default_fn, const CaseOptions&);
HOLDFAST_API Tensor peek_at(const Tensor& tensor,
                            const std::vector<std::pair<std::string, Tensor>>& feed);
}  // namespace detail

/// What the branch beside the first true predicate gives, else `default_fn`; without it one of the
/// predicates has to hold.
[[gnu::always_inline]] inline Tensors case_of(
    const std::vector<std::pair<Tensor, BranchFn>>& pred_fn_pairs,
    const BranchFn& default_fn = nullptr, const CaseOptions& options = {},
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::choose_case(pred_fn_pairs, default_fn, options);
}

/// The value that a symbol has for given values of its graph's inputs, by name.
[[gnu::always_inline]] inline Tensor peek(
    const Tensor& tensor, const std::vector<std::pair<std::string, Tensor>>& feed = {},
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::peek_at(tensor, feed);
}

}  // namespace holdfast
