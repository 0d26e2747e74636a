// What files of this folder share.
#pragma once

#include <string>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/scope.h"

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
  for (int64_t v : d)
    if (v < 0) s.bad_value(argument, sizes_text(d), "sizes of 0 or more");
}

/// Whether a trace knows the numbers that `t` holds.
inline bool is_known(const Tensor& t) {
  return !t.is_symbolic() || (symbol_of(t)->known.defined() && !symbol_of(t)->unknown);
}

/// The shape that integer input `i` holds, as far as it is known. Refuses negative sizes.
inline Shape shape_held(const Infer& s, int i, const char* argument) {
  if (auto all = s.ints(i)) {
    need_sizes(s, argument, *all);
    return Shape(*all);
  }
  if (s.shape(i).rank() == 0) return Shape{kUnknown};
  auto part = s.sizes(i);
  return part ? Shape(*part) : Shape::unknown();
}

/// The numbers in `given`, which shape the graph and so must be known when it is written.
inline Dims known_numbers(const Sizes& given, const char* function, const char* argument) {
  if (given.is_tensor() && !is_known(given.tensor()))
    fail(Code::E1105, cat(function, ": `", argument, "` must be known while tracing"),
         "what it holds decides which ops the graph has", {manual_fix("give it as plain numbers")});
  return given.ints();
}

/// An axis of a tensor of `rank` axes, made non-negative; refuses one out of range.
inline int axis_of_rank(const Infer& s, int64_t axis, int64_t rank, const char* argument = "axis") {
  if (axis < -rank || axis >= rank) refuse_outside(s, argument, axis, -rank, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

/// A host tensor of integers of dtype `d`.
Tensor host_ints(DType d, const Dims& values, const Shape& shape);

}  // namespace holdfast
