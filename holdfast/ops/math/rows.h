// Walking operands of any dtypes that broadcast against each other: for kernels that are not one of
// the scalar instructions.
#pragma once

#include <algorithm>
#include <array>

#include "holdfast/base/parallel.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast {

/// A stretch of the output along which each operand stands still (step 0) or advances by one.
template <size_t N>
struct Row {
  int64_t out, count;
  std::array<int64_t, N> at, step;
};

/// Calls `f(Row)` for stretches that together cover an output of shape `out`, several at a time.
template <size_t N, class F>
void for_rows(const std::array<const Tensor*, N>& in, const Shape& out, F&& f) {
  int64_t total = out.size();
  if (total == 0) return;
  // Axes from the inside out; neighbours along which every operand goes on as before are joined.
  Dims sizes;
  std::array<Dims, N> strides;
  std::array<int64_t, N> dense;
  dense.fill(1);
  for (int i = 1; i <= out.rank(); ++i) {
    std::array<int64_t, N> stride;
    bool joins = !sizes.empty();
    for (size_t k = 0; k < N; ++k) {
      int64_t own = i <= in[k]->rank() ? in[k]->dim(-i) : 1;
      stride[k] = own == 1 ? 0 : dense[k];
      dense[k] *= own;
      if (joins) joins = stride[k] == strides[k].back() * sizes.back();
    }
    if (out[-i] == 1) continue;
    if (joins) {
      sizes.back() *= out[-i];
      continue;
    }
    sizes.push_back(out[-i]);
    for (size_t k = 0; k < N; ++k) strides[k].push_back(stride[k]);
  }
  if (sizes.empty()) {
    sizes.push_back(1);
    for (auto& s : strides) s.push_back(0);
  }
  parallel_for(total, 32768, [&](int64_t begin, int64_t end) {
    Row<N> row{};
    for (int64_t b = begin; b < end; b += row.count) {
      int64_t left = b, first = b % sizes[0];
      row.out = b;
      row.at.fill(0);
      for (size_t axis = 0; axis < sizes.size(); ++axis) {
        int64_t index = left % sizes[axis];
        left /= sizes[axis];
        for (size_t k = 0; k < N; ++k) row.at[k] += index * strides[k][axis];
      }
      for (size_t k = 0; k < N; ++k) row.step[k] = strides[k][0];
      row.count = std::min(end - b, sizes[0] - first);
      f(row);
    }
  });
}

}  // namespace holdfast
