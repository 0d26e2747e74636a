// What begin, end, strides and the five masks of a strided slice mean for a given shape.
#pragma once

#include "holdfast/op/op.h"
#include "holdfast/ops/array/strided_copy.h"

namespace holdfast {

struct SliceMasks {
  int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink = 0;
};

/// One axis of the input: elements begin, begin + stride, ... `size` of them (kUnknown if not
/// known).
struct AxisRange {
  int64_t begin = 0, stride = 1, size = kUnknown;
  int result_axis = -1;  // where it is in the result; -1 if it was shrunk away
};

struct SliceSpec {
  InlineVector<AxisRange, 6> ranges;  // one for each axis of the input
  Dims result;                        // sizes of the result, new axes in, shrunk axes out
  /// The box of elements, for a copy out into dense memory.
  CopyAxes axes(const Shape& sliced) const;
  /// The box of elements, for a copy of a `value` that broadcasts to the result into the sliced
  /// tensor.
  CopyAxes axes_into(const Shape& sliced, const Shape& value) const;
  /// Number of the first element.
  int64_t offset(const Shape& sliced) const;
  /// The elements are one run of memory.
  bool contiguous(const Shape& sliced) const;
};

/// Stands for a number that only the running program knows: -1 is a number like others here.
inline constexpr int64_t kNotYet = INT64_MIN;
/// The numbers in input `i`, as far as they are known; nothing if none is.
std::optional<Dims> slice_numbers(const Infer& s, int i);

/// Refuses bad specifications through `s`. Numbers that are not known yet may be missing; `count`
/// is how many items there are.
SliceSpec slice_spec(const Infer& s, const Shape& sliced, const std::optional<Dims>& begin,
                     const std::optional<Dims>& end, const std::optional<Dims>& strides,
                     int64_t count, const SliceMasks& masks);

}  // namespace holdfast
