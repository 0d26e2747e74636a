// Tensors over memory that a program has already, without a copy.
#pragma once

#include <memory>
#include <source_location>
#include <vector>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

namespace detail {
HOLDFAST_API Tensor wrap_bytes(DType dtype, size_t alignment, const void* data, const Shape& shape,
                               std::shared_ptr<const void> owner);
/// Refuses memory that moves with its owner.
HOLDFAST_API void check_apart(const void* data, const void* owner, size_t bytes);
}  // namespace detail

/// What memory can hold as it is: numbers and bools.
template <class T>
concept PlainElement = requires { dtype_of_type<T>::value; } && kPlain.has(dtype_of<T>);

/// What keeps memory while it lives: a shared_ptr, or an object that is moved there. A copy of an
/// object would keep other memory.
template <class T>
concept MemoryOwner =
    std::is_convertible_v<T, std::shared_ptr<const void>> || !std::is_reference_v<T>;

/// A tensor that looks at `data`, laid out row by row. The last tensor that does so lets go of
/// `owner`. Who goes on writing into the memory changes a tensor under its holders.
template <PlainElement T, MemoryOwner Owner>
[[gnu::always_inline]] inline Tensor wrap(
    const T* data, const Shape& shape, Owner&& owner,
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  if constexpr (std::is_convertible_v<Owner, std::shared_ptr<const void>>) {
    return detail::wrap_bytes(dtype_of<T>, alignof(T), data, shape, std::forward<Owner>(owner));
  } else {
    detail::check_apart(data, &owner, sizeof owner);
    return detail::wrap_bytes(dtype_of<T>, alignof(T), data, shape,
                              std::make_shared<Owner>(std::forward<Owner>(owner)));
  }
}
/// A tensor that takes the vector over: `wrap(std::move(values), {2, 3})`.
template <PlainElement T>
  requires(!std::is_same_v<T, bool>)
[[gnu::always_inline]] inline Tensor wrap(
    std::vector<T>&& values, const Shape& shape,
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  auto owner = std::make_shared<std::vector<T>>(std::move(values));
  if (auto n = shape.elements(); !n || static_cast<size_t>(*n) != owner->size())
    return Tensor::of(std::span<const T>(*owner), shape, at);  // which refuses it
  return detail::wrap_bytes(dtype_of<T>, alignof(T), owner->data(), shape, owner);
}

}  // namespace holdfast
