// Tensors from C++ values: constant(3), constant({1, 2}), constant({{1., 2.}, {3., 4.}}, float64).
//
// The dtype where none is asked for. Numbers that stand in the program alone or in braces are as in
// Python: `constant(1.5)` and `constant({1.5})` are float32, `constant(1)` is int32. What has an
// element type keeps it: `constant(std::vector<double>)` is float64, as are std::array, std::span,
// plain arrays, `Tensor::of` and `Tensor::scalar` of doubles.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

namespace detail {

/// The type of ours that holds a C++ value.
template <class T>
struct ConstantType {
  using type = T;
};
template <>
struct ConstantType<long long> {
  using type = int64_t;
};
template <>
struct ConstantType<unsigned long long> {
  using type = uint64_t;
};
template <>
struct ConstantType<const char*> {
  using type = std::string;
};
template <>
struct ConstantType<std::string_view> {
  using type = std::string;
};

/// `values` of dtype `from` as a tensor of `to` (kInvalid: as they are).
HOLDFAST_API Tensor make_constant(DType from, const void* values, size_t count, Shape shape,
                                  DType to);

HOLDFAST_API Tensor text_constant(const char* value, DType to);

/// Where values come from: a program's own numbers, or something with an element type.
enum class Values : uint8_t { kLiteral, kTyped };

template <Values kind, class T>
Tensor constant_of(std::span<const T> values, Shape shape, DType dtype,
                   const std::source_location& at) {
  mark_caller(at);
  using S = typename ConstantType<T>::type;
  // Doubles go over in full, so that float64 loses nothing.
  if constexpr (kind == Values::kLiteral && std::is_same_v<T, double>)
    if (dtype == DType::kInvalid) dtype = float32;
  if constexpr (std::is_same_v<S, T>) {
    return make_constant(dtype_of<S>, values.data(), values.size(), std::move(shape), dtype);
  } else {
    std::vector<S> stored(values.begin(), values.end());
    return make_constant(dtype_of<S>, stored.data(), stored.size(), std::move(shape), dtype);
  }
}
template <Values kind, class T>
Tensor constant_of(const std::vector<T>& values, Shape shape, DType dtype,
                   const std::source_location& at) {
  // There is no contiguous vector of bool.
  if constexpr (std::is_same_v<T, bool>) {
    mark_caller(at);
    std::vector<uint8_t> bytes(values.begin(), values.end());
    return make_constant(DType::kBool, bytes.data(), bytes.size(), std::move(shape), dtype);
  } else {
    return constant_of<kind>(std::span<const T>(values), std::move(shape), dtype, at);
  }
}

template <class T>
struct Nested {
  using Leaf = T;
  static constexpr int depth = 0;
  static void measure(const T&, Dims&, size_t) {}
  static void flatten(const T& v, std::vector<T>& out, const Dims&, size_t) { out.push_back(v); }
};
[[noreturn]] HOLDFAST_API void ragged_constant(int64_t got, int64_t expected, int depth);
/// What holds elements or rows of them, one after another.
template <class L, class T>
struct NestedList {
  using Leaf = typename Nested<T>::Leaf;
  static constexpr int depth = Nested<T>::depth + 1;
  static void measure(const L& v, Dims& shape, size_t) {
    shape.push_back(static_cast<int64_t>(v.size()));
    if (v.size())
      Nested<T>::measure(*v.begin(), shape, 0);
    else
      for (int i = 1; i < depth; ++i) shape.push_back(0);
  }
  static void flatten(const L& v, std::vector<Leaf>& out, const Dims& shape, size_t level) {
    auto n = static_cast<int64_t>(v.size());
    if (n != shape[level]) ragged_constant(n, shape[level], static_cast<int>(level));
    for (const T& x : v) Nested<T>::flatten(x, out, shape, level + 1);
  }
};
template <class T>
struct Nested<std::initializer_list<T>> : NestedList<std::initializer_list<T>, T> {};
template <class T>
struct Nested<std::vector<T>> : NestedList<std::vector<T>, T> {};
template <class T, size_t N>
struct Nested<std::array<T, N>> : NestedList<std::array<T, N>, T> {};
template <class T, size_t N>
struct Nested<T[N]> : NestedList<std::span<const T, N>, T> {};

template <Values kind, class L>
Tensor nested_constant(const L& list, DType dtype, const std::source_location& at) {
  mark_caller(at);  // rows of different lengths are refused
  Dims shape;
  Nested<L>::measure(list, shape, 0);
  std::vector<typename Nested<L>::Leaf> values;
  Nested<L>::flatten(list, values, shape, 0);
  return constant_of<kind>(values, Shape(shape), dtype, at);
}

}  // namespace detail

/// A tensor that holds the value: an int32, a float32 for a double, or what `dtype` asks for.
template <class T>
  requires(!std::is_array_v<T>)
Tensor constant(const T& value, DType dtype = DType::kInvalid,
                const std::source_location& at = std::source_location::current()) {
  return detail::constant_of<detail::Values::kLiteral>(std::span<const T>(&value, 1), Shape{},
                                                       dtype, at);
}
inline Tensor constant(const char* value, DType dtype = DType::kInvalid,
                       const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::text_constant(value, dtype);
}

/// A copy of the elements, of their own type unless `dtype` says otherwise. Rows may be vectors or
/// arrays again, to any depth, all of one length.
template <class T>
Tensor constant(const std::vector<T>& values, DType dtype = DType::kInvalid,
                const std::source_location& at = std::source_location::current()) {
  if constexpr (detail::Nested<T>::depth == 0)
    return detail::constant_of<detail::Values::kTyped>(
        values, Shape{static_cast<int64_t>(values.size())}, dtype, at);
  else
    return detail::nested_constant<detail::Values::kTyped>(values, dtype, at);
}
template <class T, size_t N>
Tensor constant(const std::array<T, N>& values, DType dtype = DType::kInvalid,
                const std::source_location& at = std::source_location::current()) {
  return detail::nested_constant<detail::Values::kTyped>(values, dtype, at);
}
template <class T, size_t N>
Tensor constant(const T (&values)[N], DType dtype = DType::kInvalid,
                const std::source_location& at = std::source_location::current()) {
  return detail::nested_constant<detail::Values::kTyped>(values, dtype, at);
}
template <class T, size_t N>
Tensor constant(std::span<T, N> values, DType dtype = DType::kInvalid,
                const std::source_location& at = std::source_location::current()) {
  return detail::constant_of<detail::Values::kTyped>(std::span<const std::remove_cv_t<T>>(values),
                                                     Shape{static_cast<int64_t>(values.size())},
                                                     dtype, at);
}

// Braces; C++ wants a form for each depth, and clang no alias where it deduces the element.
#define HOLDFAST_LIST(...) std::initializer_list<__VA_ARGS__>
#define HOLDFAST_BRACES(...)                                                          \
  template <class T>                                                                  \
  Tensor constant(__VA_ARGS__ values, DType dtype = DType::kInvalid,                  \
                  const std::source_location& at = std::source_location::current()) { \
    return detail::nested_constant<detail::Values::kLiteral>(values, dtype, at);      \
  }
HOLDFAST_BRACES(HOLDFAST_LIST(T))
HOLDFAST_BRACES(HOLDFAST_LIST(HOLDFAST_LIST(T)))
HOLDFAST_BRACES(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(T))))
HOLDFAST_BRACES(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(T)))))
HOLDFAST_BRACES(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(T))))))
HOLDFAST_BRACES(
    HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(T)))))))
HOLDFAST_BRACES(HOLDFAST_LIST(
    HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(T))))))))
HOLDFAST_BRACES(HOLDFAST_LIST(HOLDFAST_LIST(
    HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(T)))))))))
#undef HOLDFAST_BRACES

#ifndef HOLDFAST_BUILDING
template <class T>
  requires std::is_arithmetic_v<T>
Tensor::Tensor(T number, const std::source_location& at)
    : Tensor(constant(number, DType::kInvalid, at)) {}
template <detail::Element T>
Tensor::Tensor(HOLDFAST_LIST(T) row, const std::source_location& at)
    : Tensor(constant(row, DType::kInvalid, at)) {}
template <detail::Element T>
Tensor::Tensor(HOLDFAST_LIST(HOLDFAST_LIST(T)) rows, const std::source_location& at)
    : Tensor(constant(rows, DType::kInvalid, at)) {}
template <detail::Element T>
Tensor::Tensor(HOLDFAST_LIST(HOLDFAST_LIST(HOLDFAST_LIST(T))) rows, const std::source_location& at)
    : Tensor(constant(rows, DType::kInvalid, at)) {}
#endif
#undef HOLDFAST_LIST

}  // namespace holdfast
