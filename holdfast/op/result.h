// What functions give back, as the list of tensors that it comes down to.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

enum class ResultKind : uint8_t { kTensor, kList, kTuple, kNothing };

namespace detail {

template <class R>
struct Result;
template <>
struct Result<void> {
  static constexpr ResultKind kind = ResultKind::kNothing;
};
template <>
struct Result<Tensor> {
  static constexpr ResultKind kind = ResultKind::kTensor;
  static Tensors list(Tensor t) { return Tensors{std::move(t)}; }
};
template <>
struct Result<Tensors> {
  static constexpr ResultKind kind = ResultKind::kList;
  static Tensors list(Tensors t) { return t; }
};
template <size_t N>
struct Result<TensorTuple<N>> : Result<Tensors> {};
template <>
struct Result<std::vector<Tensor>> {
  static constexpr ResultKind kind = ResultKind::kList;
  static Tensors list(const std::vector<Tensor>& t) { return Tensors(t.begin(), t.end()); }
};
template <class... T>
struct Result<std::tuple<T...>> {
  static constexpr ResultKind kind = ResultKind::kTuple;
  static Tensors list(std::tuple<T...> t) {
    return std::apply([](auto&... x) { return Tensors{x...}; }, t);
  }
};

}  // namespace detail
}  // namespace holdfast
