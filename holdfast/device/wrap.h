// Tensors over memory that a program has already, without a copy.
#pragma once

#include <source_location>
#include <vector>

#include "holdfast/base/boxed.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast {

namespace detail {
HOLDFAST_API Tensor wrap_bytes(DType dtype, size_t alignment, const void* data, const Shape& shape,
                               Ref<RefCounted> owner);
/// Refuses memory that moves with its owner.
HOLDFAST_API void check_apart(const void* data, const void* owner, size_t bytes);
}  // namespace detail

/// What memory can hold as it is: numbers and bools.
template <class T>
concept PlainElement = requires { dtype_of_type<T>::value; } && kPlain.has(dtype_of<T>);

/// What keeps memory while it lives: a shared_ptr, or an object that is moved there. A copy of an
/// object would keep other memory.
template <class T>
concept SharedOwner = requires(const T& owner) {
  owner.get();
  owner.use_count();
};
template <class T>
concept MemoryOwner = SharedOwner<std::remove_cvref_t<T>> || !std::is_reference_v<T>;

/// A tensor that looks at `data`, laid out row by row. The last tensor that does so lets go of
/// `owner`. Who goes on writing into the memory changes a tensor under its holders.
template <PlainElement T, MemoryOwner Owner>
[[gnu::always_inline]] inline Tensor wrap(
    const T* data, const Shape& shape, Owner&& owner,
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  using Kept = std::remove_cvref_t<Owner>;
  if constexpr (!SharedOwner<Kept>) detail::check_apart(data, &owner, sizeof owner);
  return detail::wrap_bytes(dtype_of<T>, alignof(T), data, shape,
                            make_ref<Boxed<Kept>>(std::forward<Owner>(owner)));
}
/// A tensor that takes the vector over: `wrap(std::move(values), {2, 3})`.
template <PlainElement T>
  requires(!std::is_same_v<T, bool>)
[[gnu::always_inline]] inline Tensor wrap(
    std::vector<T>&& values, const Shape& shape,
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  if (auto n = shape.elements(); !n || static_cast<size_t>(*n) != values.size())
    return Tensor::of(std::span<const T>(values), shape, at);  // which refuses it
  auto owner = make_ref<Boxed<std::vector<T>>>(std::move(values));
  const T* data = owner->value.data();
  return detail::wrap_bytes(dtype_of<T>, alignof(T), data, shape, std::move(owner));
}

template <class T, class Owner>
[[gnu::always_inline]] inline Tensor Tensor::wrap(const T* data, const Shape& shape, Owner&& owner,
                                                  const std::source_location& at) {
  return holdfast::wrap(data, shape, std::forward<Owner>(owner), at);
}
template <class T>
[[gnu::always_inline]] inline Tensor Tensor::wrap(std::vector<T>&& values, const Shape& shape,
                                                  const std::source_location& at) {
  return holdfast::wrap(std::move(values), shape, at);
}

}  // namespace holdfast
