// The one tensor type: a reference to an immutable value, or to a value yet to be computed.
#pragma once

#include <array>
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

class Index;  // ops/indexing.h
class Symbol;
class Variable;
class VariableState;

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
  Ref<TensorRep> mask;     // which of its steps count: layers set it, it goes along with the tensor

  /// The handle that a resource keeps for itself: it does not hold the resource, but whoever else
  /// holds the handle does.
  static Ref<TensorRep> own_handle(RefCounted* of);

 private:
  void retained(int64_t before) const noexcept override;
  void released(int64_t before) const noexcept override;
};

namespace detail {
/// What may stand in braces that make a tensor.
template <class T>
concept Element = std::is_arithmetic_v<T> || std::is_convertible_v<const T&, std::string_view>;
}  // namespace detail

class HOLDFAST_API Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor&) = default;
  Tensor& operator=(Tensor&&) noexcept = default;
  ~Tensor() = default;
  // For its words, where `x[0] = 1.f` is written.
  void operator=(const Tensor&) const = delete;  // parts of a Variable change: `v[0] = 1.f`
  explicit Tensor(Ref<TensorRep> rep) : rep_(std::move(rep)) {}
  /// A variable's value now; tapes see the read.
  Tensor(const Variable& v, const std::source_location& at = std::source_location::current());
#ifndef HOLDFAST_BUILDING
  // Our own code says `constant`, and has functions that take tensors beside ones that take
  // numbers.

  /// What `constant` makes of a number, or of numbers or texts in braces: `Tensor x = 1.5`, `Tensor
  /// x = {{1, 2}, {3, 4}}`.
  template <class T>
    requires std::is_arithmetic_v<T>
  Tensor(T number, const std::source_location& at = std::source_location::current());
  template <detail::Element T>
  Tensor(std::initializer_list<T> row,
         const std::source_location& at = std::source_location::current());
  template <detail::Element T>
  Tensor(std::initializer_list<std::initializer_list<T>> rows,
         const std::source_location& at = std::source_location::current());
  template <detail::Element T>
  Tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> rows,
         const std::source_location& at = std::source_location::current());
#endif
  /// A scalar.
  template <class T>
    requires std::is_arithmetic_v<T>
  [[gnu::always_inline]] static Tensor scalar(
      T v, DType dtype = dtype_of<T>,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    if constexpr (std::is_integral_v<T>)
      return scalar_of(dtype, static_cast<double>(v), static_cast<int64_t>(v));
    // A float that int64 does not hold: whoever asks for an integer then gets the lowest one.
    else
      return scalar_of(dtype, static_cast<double>(v),
                       v >= -0x1p63 && v < 0x1p63 ? static_cast<int64_t>(v) : INT64_MIN);
  }
  /// A copy of `values`, laid out row by row: `Tensor::of(vector, {2, 3})`. Without a shape they
  /// are one row.
  template <class T>
  [[gnu::always_inline]] static Tensor of(
      std::span<const T> values, Shape shape,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return from_bytes(dtype_of<T>, std::move(shape), values.data(), values.size());
  }
  template <class T, size_t N>
    requires(!std::is_const_v<T> || N != std::dynamic_extent)
  static Tensor of(std::span<T, N> values, Shape shape,
                   const std::source_location& at = std::source_location::current()) {
    return of(std::span<const std::remove_const_t<T>>(values), std::move(shape), at);
  }
  template <class T>
  static Tensor of(std::initializer_list<T> values, Shape shape,
                   const std::source_location& at = std::source_location::current()) {
    return of<T>(std::span<const T>(values.begin(), values.size()), std::move(shape), at);
  }
  template <class T>
  static Tensor of(std::initializer_list<T> values,
                   const std::source_location& at = std::source_location::current()) {
    return of<T>(values, Shape{values.size()}, at);
  }
  template <class T>
  static Tensor of(const std::vector<T>& values, Shape shape,
                   const std::source_location& at = std::source_location::current()) {
    if constexpr (std::is_same_v<T, bool>) {  // there is no contiguous vector of bool
      mark_caller(at);
      std::vector<uint8_t> bytes(values.begin(), values.end());
      return from_bytes(DType::kBool, std::move(shape), bytes.data(), bytes.size());
    } else {
      return of<T>(std::span<const T>(values), std::move(shape), at);
    }
  }
  template <class T>
  static Tensor of(const std::vector<T>& values,
                   const std::source_location& at = std::source_location::current()) {
    return of<T>(values, Shape{values.size()}, at);
  }
  template <class T, size_t N>
  static Tensor of(const std::array<T, N>& values, Shape shape = {N},
                   const std::source_location& at = std::source_location::current()) {
    return of<T>(std::span<const T>(values), std::move(shape), at);
  }
  /// A tensor over memory that the program has already, without a copy: `wrap` of device/wrap.h.
  template <class T, class Owner>
  static Tensor wrap(const T* data, const Shape& shape, Owner&& owner,
                     const std::source_location& at = std::source_location::current());
  template <class T>
  static Tensor wrap(std::vector<T>&& values, const Shape& shape,
                     const std::source_location& at = std::source_location::current());

#ifndef HOLDFAST_BUILDING
  // Our own code asks no tensor for its truth: there it would be a null test gone wrong.

  /// The truth of its one element, as Python has it: `if (loss < best)`. Reads the value; refused
  /// for several elements, and while a function is traced, where there is no value yet.
  explicit operator bool() const { return truth(); }
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
  explicit operator T() const = delete;  // write `x.item<float>()`, or `x.to_double()`
#endif
  /// Whether it refers to anything: one that was only declared does not, and is refused wherever a
  /// tensor is needed.
  bool defined() const { return static_cast<bool>(rep_); }
  DType dtype() const { return known().dtype; }
  const Shape& shape() const { return known().shape; }
  int rank() const { return known().shape.rank(); }
  /// The size of one axis; a negative one counts from the end.
  int64_t dim(int axis) const { return known().shape[axis]; }
  /// How many elements; refused where a dimension is not known yet.
  int64_t size() const { return known().shape.size(); }
  int64_t bytes() const { return size() * size_of(dtype()); }
  /// Tells tensors apart: never given out twice.
  uint64_t id() const { return known().id; }
  Where born() const { return known().born; }
  bool is_symbolic() const { return known().symbolic; }
  /// Dtype and shape are known, and nothing more: a symbol, or what is left of a value that was let
  /// go.
  bool has_value() const { return known().buffer || (rep_->beyond && !rep_->symbolic); }
  Device* device() const { return known().buffer ? rep_->buffer->device() : nullptr; }
  TensorRep* rep() const { return rep_.get(); }
  const Ref<TensorRep>& ref() const { return rep_; }

  /// A part of it, as `at` of ops/indexing.h takes it: `x[0]`, `x(slice(1, 3), all, newaxis)`. It
  /// is const: assigning to it would change nothing.
  const Tensor operator[](const Index& item) const;
  template <class... More>
  const Tensor operator()(const Index& first, const More&... more) const;

  /// The elements, for kernels: device memory, any dtype, no checks. What is written is seen by
  /// everyone who holds the buffer.
  const void* raw() const { return static_cast<const char*>(rep_->buffer->data()) + rep_->offset; }
  void* mutable_raw() const { return static_cast<char*>(rep_->buffer->data()) + rep_->offset; }
  template <class T>
  const T* raw() const {
    return static_cast<const T*>(raw());
  }
  template <class T>
  T* mutable_raw() const {
    return static_cast<T*>(mutable_raw());
  }

  /// The elements, row by row, without a copy. Refuses another dtype, a value that is not there
  /// yet, and one that is not in the host's memory.
  template <class T>
  [[gnu::always_inline]] std::span<const T> span(
      const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    size_t elements = 0;
    const void* first = readable(dtype_of<T>, &elements);
    return {static_cast<const T*>(first), elements};
  }
  template <class T>
  [[gnu::always_inline]] const T* data(
      const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    return static_cast<const T*>(readable(dtype_of<T>));
  }
  /// The elements, to be written. Refuses also a tensor that is not this one's alone: tensors do
  /// not change once somebody else holds them.
  template <class T>
  [[gnu::always_inline]] T* mutable_data(
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return static_cast<T*>(writable(dtype_of<T>));
  }

  /// A copy of the elements on the host. Checks the dtype.
  template <class T>
  [[gnu::always_inline]] std::vector<T> to_vector(
      const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    Tensor host = on_host(dtype_of<T>, -1);
    const T* p = host.raw<T>();
    return std::vector<T>(p, p + host.size());
  }
  /// The only element. Checks dtype and size.
  template <class T>
  [[gnu::always_inline]] T item(
      const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    return *on_host(dtype_of<T>, 1).template raw<T>();
  }
  void item() const = delete;  // C++ wants to be told the type: write `x.item<float>()`
  /// The only element as a C++ number, whatever the dtype.
  [[gnu::always_inline]] double to_double(
      const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    return as_double();
  }
  [[gnu::always_inline]] int64_t to_int(
      const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    return as_int();
  }

  /// Which of its steps count, as the layer that made it said; not defined for nearly all. Set
  /// before other threads see the tensor.
  Tensor mask() const { return Tensor(known().mask); }
  void set_mask(const Tensor& mask) const;

  /// As Python prints it: `[[1. 2.]]`.
  std::string text() const;

 private:
  static Tensor from_bytes(DType, Shape, const void* values, size_t count);
  static Tensor scalar_of(DType, double f, int64_t i);
  const TensorRep& known() const {
    if (!rep_) [[unlikely]]
      refuse_undefined();
    return *rep_;
  }
  [[noreturn]] static void refuse_undefined();
  bool truth() const;
  /// Itself, or a copy if it lives on another device; refuses another dtype or size (-1: any).
  Tensor on_host(DType, int64_t size) const;
  double as_double() const;
  int64_t as_int() const;
  void check_readable(DType) const;
  const void* readable(DType, size_t* elements = nullptr) const;
  void* writable(DType);

  Ref<TensorRep> rep_;
};

using Tensors = InlineVector<Tensor, 4>;

// Tensors compare element by element, so containers of them would ask several elements for one
// truth. Compare what is meant: `reduce_all(a == b)`, or ids.
template <class A>
bool operator==(  // of each two: `reduce_all(a == b)` for values, `same(a, b)` for tensors
    const std::vector<Tensor, A>&, const std::vector<Tensor, A>&) = delete;
template <size_t N>
bool operator==(const InlineVector<Tensor, N>&, const InlineVector<Tensor, N>&) = delete;

/// `Tensors` whose number is known to the compiler, so that they take themselves apart: `auto [s,
/// u, v] = linalg::svd(x)`. Fewer of them, where an option asked for fewer, are refused.
template <size_t N>
class TensorTuple : public Tensors {
 public:
  using Tensors::Tensors;
  TensorTuple(Tensors all) : Tensors(std::move(all)) {}
  template <size_t I>
  Tensor get() const {
    return (*this)[I];
  }
};

/// A tensor that looks into `base`'s buffer: same memory, another shape or start.
HOLDFAST_API Tensor view_of(const Tensor& base, Shape shape, int64_t offset_bytes = 0);

}  // namespace holdfast

template <size_t N>
struct std::tuple_size<holdfast::TensorTuple<N>> : std::integral_constant<size_t, N> {};
template <size_t I, size_t N>
struct std::tuple_element<I, holdfast::TensorTuple<N>> {
  using type = holdfast::Tensor;
};
// Only for its words: without it the compiler would speak of a private member.
template <size_t N>
struct std::tuple_size<holdfast::InlineVector<holdfast::Tensor, N>> {
  static_assert(N == 0,
                "how many tensors there are is known when the program runs: write `auto [a, b] = "
                "holdfast::exactly<2>(...)`");
  static constexpr size_t value = 0;
};
