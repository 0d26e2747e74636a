// The one tensor type: a reference to an immutable value, or to a value yet to be computed.
#pragma once

#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "holdfast/base/refcount.h"
#include "holdfast/base/where.h"
#include "holdfast/tensor/buffer.h"
#include "holdfast/tensor/dtype.h"
#include "holdfast/tensor/shape.h"

namespace holdfast {

class VariableState;
class Symbol;

/// What a Tensor refers to. Dense, row-major; several may share one buffer.
struct HOLDFAST_API TensorRep final : RefCounted {
  TensorRep(DType, const Shape&, Ref<Buffer>, int64_t offset = 0);
  static void* operator new(size_t bytes);
  static void operator delete(void* p) noexcept;

  DType dtype;
  Shape shape;
  Ref<Buffer> buffer;             // null for symbols, resources and lists
  int64_t offset = 0;             // bytes into the buffer
  uint64_t id;                    // never reused
  Where born = nullptr;           // the user's line that made it
  const char* op = "";            // the op that made it
  bool symbolic = false;          // a value yet to be computed: `beyond` is its Symbol
  Where variable_born = nullptr;  // where the Variable was made that this was read from
  Where from_variable = nullptr;  // likewise, of the first operand it was computed from
  Ref<RefCounted> beyond;  // the Symbol of a symbolic tensor, the state of a resource, a list

  /// The handle that a resource keeps for itself: it does not hold the resource, but whoever else
  /// holds the handle does.
  static Ref<TensorRep> own_handle(RefCounted* of);

 private:
  void retained(int64_t before) const noexcept override;
  void released(int64_t before) const noexcept override;
};

class HOLDFAST_API Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorRep> rep) : rep_(std::move(rep)) {}
  /// A scalar.
  template <class T>
    requires std::is_arithmetic_v<T>
  static Tensor scalar(T v, DType = dtype_of<T>);
  /// A copy of `values`, laid out row by row.
  template <class T>
  static Tensor of(std::span<const T> values, Shape shape,
                   const std::source_location& at = std::source_location::current()) {
    mark_site(at);
    return from_bytes(dtype_of<T>, std::move(shape), values.data(), values.size());
  }
  template <class T>
  static Tensor of(std::initializer_list<T> values,
                   const std::source_location& at = std::source_location::current()) {
    return of<T>(std::span<const T>(values.begin(), values.size()),
                 Shape{static_cast<int64_t>(values.size())}, at);
  }

  explicit operator bool() const { return static_cast<bool>(rep_); }  // refers to something
  DType dtype() const { return rep_->dtype; }
  const Shape& shape() const { return rep_->shape; }
  int rank() const { return rep_->shape.rank(); }
  int64_t dim(int axis) const { return rep_->shape[axis]; }
  int64_t size() const { return rep_->shape.size(); }
  int64_t bytes() const { return size() * size_of(dtype()); }
  uint64_t id() const { return rep_->id; }
  Where born() const { return rep_->born; }
  bool is_symbolic() const { return rep_->symbolic; }
  /// Dtype and shape are known, and nothing more: a symbol, or what is left of a value that was let
  /// go.
  bool has_value() const { return rep_->buffer || (rep_->beyond && !rep_->symbolic); }
  Device* device() const { return rep_->buffer ? rep_->buffer->device() : nullptr; }
  TensorRep* rep() const { return rep_.get(); }
  const Ref<TensorRep>& ref() const { return rep_; }

  /// The elements, for kernels: device memory, no checks.
  const void* raw() const { return static_cast<const char*>(rep_->buffer->data()) + rep_->offset; }
  void* mutable_raw() const { return static_cast<char*>(rep_->buffer->data()) + rep_->offset; }
  template <class T>
  const T* data() const {
    return static_cast<const T*>(raw());
  }
  template <class T>
  T* mutable_data() const {
    return static_cast<T*>(mutable_raw());
  }

  /// A copy of the elements on the host. Checks the dtype.
  template <class T>
  std::vector<T> to_vector() const {
    Tensor host = on_host(dtype_of<T>, -1);
    const T* p = host.data<T>();
    return std::vector<T>(p, p + size());
  }
  /// The only element. Checks dtype and size.
  template <class T>
  T item() const {
    Tensor host = on_host(dtype_of<T>, 1);
    return *host.data<T>();
  }
  /// The only element as a C++ number, whatever the dtype.
  double to_double() const;
  int64_t to_int() const;

  /// As Python prints it: `[[1. 2.]]`.
  std::string text() const;

 private:
  static Tensor from_bytes(DType, Shape, const void* values, size_t count);
  static Tensor scalar_of(DType, double f, int64_t i);
  /// Itself, or a copy if it lives on another device; refuses another dtype or size (-1: any).
  Tensor on_host(DType, int64_t size) const;

  Ref<TensorRep> rep_;
};

template <class T>
  requires std::is_arithmetic_v<T>
Tensor Tensor::scalar(T v, DType d) {
  if constexpr (std::is_integral_v<T>)
    return scalar_of(d, static_cast<double>(v), static_cast<int64_t>(v));
  // A float that int64 does not hold: whoever asks for an integer then gets the lowest one.
  else
    return scalar_of(d, static_cast<double>(v),
                     v >= -0x1p63 && v < 0x1p63 ? static_cast<int64_t>(v) : INT64_MIN);
}

using Tensors = InlineVector<Tensor, 4>;

/// A tensor that looks into `base`'s buffer: same memory, another shape or start.
HOLDFAST_API Tensor view_of(const Tensor& base, Shape shape, int64_t offset_bytes = 0);

}  // namespace holdfast
