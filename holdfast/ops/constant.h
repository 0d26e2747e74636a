// Tensors from C++ values: constant(3), constant({1, 2}), constant({{1., 2.}, {3., 4.}}, float64).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

namespace detail {

/// What a C++ value becomes where no dtype is asked for: as in Python, a double is a float32.
template <class T>
struct ConstantType {
  using type = T;
};
template <>
struct ConstantType<double> {
  using type = float;
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

template <class T>
Tensor constant_of(const std::vector<T>& values, Shape shape, DType dtype,
                   const std::source_location& at) {
  mark_site(at);
  using S = typename ConstantType<T>::type;
  // Doubles go over in full, so that float64 loses nothing; bool has no contiguous vector.
  if constexpr (std::is_same_v<T, double>) {
    return make_constant(DType::kFloat64, values.data(), values.size(), std::move(shape),
                         dtype == DType::kInvalid ? float32 : dtype);
  } else if constexpr (std::is_same_v<T, bool>) {
    std::vector<uint8_t> bytes(values.begin(), values.end());
    return make_constant(DType::kBool, bytes.data(), bytes.size(), std::move(shape), dtype);
  } else {
    std::vector<S> stored(values.begin(), values.end());
    return make_constant(dtype_of<S>, stored.data(), stored.size(), std::move(shape), dtype);
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
template <class T>
struct Nested<std::initializer_list<T>> {
  using Leaf = typename Nested<T>::Leaf;
  static constexpr int depth = Nested<T>::depth + 1;
  static void measure(const std::initializer_list<T>& v, Dims& shape, size_t) {
    shape.push_back(static_cast<int64_t>(v.size()));
    if (v.size())
      Nested<T>::measure(*v.begin(), shape, 0);
    else
      for (int i = 1; i < depth; ++i) shape.push_back(0);
  }
  static void flatten(const std::initializer_list<T>& v, std::vector<Leaf>& out, const Dims& shape,
                      size_t level) {
    auto n = static_cast<int64_t>(v.size());
    if (n != shape[level]) ragged_constant(n, shape[level], static_cast<int>(level));
    for (const T& x : v) Nested<T>::flatten(x, out, shape, level + 1);
  }
};

template <class L>
Tensor nested_constant(const L& list, DType dtype, const std::source_location& at) {
  Dims shape;
  Nested<L>::measure(list, shape, 0);
  std::vector<typename Nested<L>::Leaf> values;
  Nested<L>::flatten(list, values, shape, 0);
  return constant_of(values, Shape(shape), dtype, at);
}

}  // namespace detail

// Clang deduces no element type through an alias of nested lists: they are written out.

/// A tensor that holds the values; ints are int32, floats float32, unless `dtype` says otherwise.
template <class T>
  requires(!std::is_array_v<T>)
Tensor constant(const T& value, DType dtype = DType::kInvalid,
                const std::source_location& at = std::source_location::current()) {
  return detail::constant_of(std::vector<T>{value}, Shape{}, dtype, at);
}
inline Tensor constant(const char* value, DType dtype = DType::kInvalid,
                       const std::source_location& at = std::source_location::current()) {
  return detail::constant_of(std::vector<std::string>{value}, Shape{}, dtype, at);
}
template <class T>
Tensor constant(const std::vector<T>& values, DType dtype = DType::kInvalid,
                const std::source_location& at = std::source_location::current()) {
  return detail::constant_of(values, Shape{static_cast<int64_t>(values.size())}, dtype, at);
}
template <class T>
Tensor constant(std::initializer_list<T> v, DType d = DType::kInvalid,
                const std::source_location& at = std::source_location::current()) {
  return detail::nested_constant(v, d, at);
}
template <class T>
Tensor constant(std::initializer_list<std::initializer_list<T>> v, DType d = DType::kInvalid,
                const std::source_location& at = std::source_location::current()) {
  return detail::nested_constant(v, d, at);
}
template <class T>
Tensor constant(std::initializer_list<std::initializer_list<std::initializer_list<T>>> v,
                DType d = DType::kInvalid,
                const std::source_location& at = std::source_location::current()) {
  return detail::nested_constant(v, d, at);
}
template <class T>
Tensor constant(
    std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>> v,
    DType d = DType::kInvalid, const std::source_location& at = std::source_location::current()) {
  return detail::nested_constant(v, d, at);
}

}  // namespace holdfast
