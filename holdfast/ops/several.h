// Results by name: `auto [a, b] = split<2>(x)`.
#pragma once

#include <array>

#include "holdfast/ops/array.h"

namespace holdfast {

namespace detail {
HOLDFAST_API Tensors split_into(const In& value, int64_t count, SplitOptions options);
HOLDFAST_API Tensors unstack_into(const In& value, int64_t count, UnstackOptions options);
[[noreturn]] HOLDFAST_API void refuse_count(size_t got, size_t expected);
[[noreturn]] HOLDFAST_API void refuse_rank(const Shape& got, size_t expected);
}  // namespace detail

/// Several tensors as an array of as many: `auto [a, b] = exactly<2>(split(x, {1, 3}))`. Another
/// number of them is refused.
template <size_t N>
std::array<Tensor, N> exactly(const Tensors& tensors) {
  if (tensors.size() != N) detail::refuse_count(tensors.size(), N);
  std::array<Tensor, N> out;
  for (size_t i = 0; i < N; ++i) out[i] = tensors[i];
  return out;
}
/// The N sizes of a shape: `auto [rows, columns] = exactly<2>(x.shape())`.
template <size_t N>
std::array<int64_t, N> exactly(const Shape& shape) {
  if (shape.rank() != static_cast<int>(N)) detail::refuse_rank(shape, N);
  std::array<int64_t, N> out;
  for (size_t i = 0; i < N; ++i) out[i] = shape[static_cast<int>(i)];
  return out;
}
/// N equal pieces along an axis.
template <size_t N>
std::array<Tensor, N> split(const In& value, const SplitOptions& options = {}) {
  return exactly<N>(detail::split_into(value, static_cast<int64_t>(N), options));
}
/// The N slices along an axis, each without it. Another number of slices is refused.
template <size_t N>
std::array<Tensor, N> unstack(const In& value, const UnstackOptions& options = {}) {
  return exactly<N>(detail::unstack_into(value, static_cast<int64_t>(N), options));
}

}  // namespace holdfast
