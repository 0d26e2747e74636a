// What gathers and scatters share: checked indices, and putting runs of values on top of others.
#pragma once

#include <algorithm>
#include <cmath>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

/// How an update meets the value that is there.
enum class Combine : uint8_t { kUpdate, kAdd, kSub, kMul, kDiv, kMin, kMax };

namespace detail {

template <class T>
T combine_one(Combine how, const T& a, const T& b) {
  if constexpr (std::is_same_v<T, bool>) {
    return how == Combine::kAdd ? a || b : b;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return b;
  } else {
    // Integers wrap, as in TensorFlow, and are summed unsigned so that this is defined.
    using W = std::conditional_t<std::is_integral_v<T>, uint64_t, float_of<T>>;
    auto x = static_cast<W>(static_cast<float_of<T>>(a)),
         y = static_cast<W>(static_cast<float_of<T>>(b));
    switch (how) {
      case Combine::kUpdate: return b;
      case Combine::kAdd: return static_cast<T>(x + y);
      case Combine::kSub: return static_cast<T>(x - y);
      case Combine::kMul: return static_cast<T>(x * y);
      case Combine::kDiv:
        if constexpr (std::is_integral_v<T>) {
          if (b == T(0)) return T(0);  // refused before the loop
          if constexpr (std::is_signed_v<T>)
            if (b == T(-1)) return static_cast<T>(W{0} - x);
          return static_cast<T>(a / b);
        } else {
          return static_cast<T>(x / y);
        }
      default:
        if constexpr (is_complex_v<T>)
          return b;
        else
          return how == Combine::kMin ? (b < a ? b : a) : (a < b ? b : a);
    }
  }
}

template <class T, Combine how>
void combine_loop(T* to, const T* from, int64_t n, int64_t step) {
  for (int64_t i = 0; i < n; ++i) to[i] = combine_one(how, to[i], from[i * step]);
}

}  // namespace detail

/// to[i] = to[i] (how) from[i]; with `step` 0 one value serves all.
template <class T>
void combine_run(Combine how, T* to, const T* from, int64_t n, int64_t step = 1) {
  switch (how) {
    case Combine::kUpdate: return detail::combine_loop<T, Combine::kUpdate>(to, from, n, step);
    case Combine::kAdd: return detail::combine_loop<T, Combine::kAdd>(to, from, n, step);
    case Combine::kSub: return detail::combine_loop<T, Combine::kSub>(to, from, n, step);
    case Combine::kMul: return detail::combine_loop<T, Combine::kMul>(to, from, n, step);
    case Combine::kDiv: return detail::combine_loop<T, Combine::kDiv>(to, from, n, step);
    case Combine::kMin: return detail::combine_loop<T, Combine::kMin>(to, from, n, step);
    case Combine::kMax: return detail::combine_loop<T, Combine::kMax>(to, from, n, step);
  }
}

/// "[1,0]": where element `i` of a tensor of shape `s` is.
std::string position_text(const Shape& s, int64_t i);
/// Fails unless all indices are in [0, size), naming the first that is not.
Status check_indices(const char* op, const Tensor& indices, int64_t size,
                     const char* argument = "indices");

/// Positions whose coordinates are the last axis of `indices`, in a tensor of shape `shape`.
struct NdLayout {
  int64_t depth = 0, count = 1, inner = 1;
  Dims strides, sizes;  // in runs of `inner`
  NdLayout(const Shape& indices, const Shape& shape);
  /// Where the run of position `i` begins; -1 where a coordinate is out of range.
  template <class I>
  int64_t run_of(const I* indices, int64_t i) const {
    int64_t at = 0;
    for (int64_t k = 0; k < depth; ++k) {
      auto v = static_cast<int64_t>(indices[i * depth + k]);
      auto axis = static_cast<size_t>(k);
      if (static_cast<uint64_t>(v) >= static_cast<uint64_t>(sizes[axis])) return -1;
      at += v * strides[axis];
    }
    return at * inner;
  }
};
/// What an op does with positions that are not in the tensor, the attribute `bad_indices_policy`.
/// Refuses other words than TensorFlow's.
void need_policy(const Infer& s, const Arg& policy);
bool ignores_bad(const Arg& policy);
Status check_nd_indices(const char* op, const Tensor& indices, const Shape& shape);
/// Shape rule of nd indices: refuses coordinates that are more than `shape` has axes.
void need_nd_indices(const Infer& s, int indices_input, const Shape& shape, const char* what);
/// Puts updates on top of `to`; those for positions that `to` has not are left out.
void scatter_nd_into(Combine how, const Tensor& to, const Tensor& indices, const Tensor& updates);

}  // namespace holdfast
