// Order: sorting, the largest, searching, distinct values.
#pragma once

#include <string>
#include <tuple>

#include "holdfast/op/by_axes.h"

namespace holdfast {

struct SortOptions {
  int64_t axis = -1;
  std::string direction = "ASCENDING";  // or "DESCENDING"
};
/// Sorted along an axis. A NaN counts as larger than every number.
HOLDFAST_API Tensor sort(const In& values, const SortOptions& = {});
HOLDFAST_AXIS_OVERLOAD(sort, In, SortOptions)
struct ArgsortOptions {
  int64_t axis = -1;
  std::string direction = "ASCENDING";
  bool stable = false;  // equal elements keep their order either way
};
/// Positions of the elements in sorted order along an axis, int32.
HOLDFAST_API Tensor argsort(const In& values, const ArgsortOptions& = {});
HOLDFAST_AXIS_OVERLOAD(argsort, In, ArgsortOptions)

struct TopKOptions {
  Sizes k = 1;
  bool sorted = true;
  DType index_type = int32;
};
/// Values and positions of the k largest along the last axis, the first of equals first.
HOLDFAST_API std::tuple<Tensor, Tensor> top_k(const In& input, const TopKOptions& = {});
#ifndef HOLDFAST_BUILDING  // our own code registers functions by their address
/// The same with `k` alone: `auto [values, places] = top_k(x, 3)`.
template <AxisNumber T>
std::tuple<Tensor, Tensor> top_k(const In& input, T k,
                                 const std::source_location& at = std::source_location::current()) {
  TopKOptions options{.k = k};
  mark_site(at);
  return top_k(input, options);
}
#endif
/// Whether the target's prediction is among the k largest of its row; never where it is not finite.
HOLDFAST_API Tensor in_top_k(const In& targets, const In& predictions, const Sizes& k);

struct SearchSortedOptions {
  std::string side = "left";  // or "right"
  DType out_type = int32;
};
/// Where each value would be inserted in the sorted rows so that they stay sorted.
HOLDFAST_API Tensor searchsorted(const In& sorted_sequence, const In& values,
                                 const SearchSortedOptions& = {});

struct UniqueOptions {
  DType out_idx = int32;
};
/// The distinct elements of a vector in order of appearance, and for each element which it is.
HOLDFAST_API std::tuple<Tensor, Tensor> unique(const In& x, const UniqueOptions& = {});
/// Likewise, and how often each occurs.
HOLDFAST_API std::tuple<Tensor, Tensor, Tensor> unique_with_counts(const In& x,
                                                                   const UniqueOptions& = {});

struct SetDiffOptions {
  DType index_dtype = int32;
};
/// The elements of `x` that are not in `y`, and where they stand.
HOLDFAST_API std::tuple<Tensor, Tensor> setdiff1d(const In& x, const In& y,
                                                  const SetDiffOptions& = {});

}  // namespace holdfast
