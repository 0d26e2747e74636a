// What files of this folder share.
#pragma once

#include <string>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"

namespace holdfast {

/// Output 0 is input 0's memory under the inferred shape.
inline Status run_view(Call& c) {
  c.set_out(0, view_of(c.in(), c.out_shape()));
  return {};
}

/// "[2,-1]": unlike a shape's text, negative numbers show.
inline std::string sizes_text(const Dims& d) {
  std::string s = "[";
  for (size_t i = 0; i < d.size(); ++i) s += cat(i ? "," : "", d[i]);
  return s + "]";
}

/// The only number in a concrete or kept integer input.
inline int64_t only(const Dims& d) { return d.empty() ? 0 : d[0]; }

/// Refuses negative sizes.
inline void need_sizes(const Infer& s, const char* argument, const Dims& d) {
  for (int64_t v : d) if (v < 0) s.bad_value(argument, sizes_text(d), "sizes of 0 or more");
}

/// An axis of a tensor of `rank` axes, made non-negative; refuses one out of range.
inline int axis_of_rank(const Infer& s, int64_t axis, int64_t rank, const char* argument = "axis") {
  if (axis < -rank || axis >= rank) s.bad_value(argument, cat(axis), cat("a value in [", -rank, ", ", rank, ")"));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

/// A host tensor of integers of dtype `d`.
Tensor host_ints(DType d, const Dims& values, const Shape& shape);

}  // namespace holdfast
