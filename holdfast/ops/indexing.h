// Taking parts of tensors, and changing parts of variables, in the manner of NumPy:
//
//   x[0]                        x[0]
//   x(slice(1, 3), all, -1)     x[1:3, :, -1]
//   x(ellipsis, newaxis)        x[..., None]
//   v[0] = 1.f;                 v[0].assign(1.): that part of a variable
//   for (Tensor row : x)        one row after another
//
// `at(x, items...)` is the same as a function.
#pragma once

#include <string>  // std::hash

#include "holdfast/op/variable.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {

/// A whole axis, as NumPy's `:`.
struct All {};
inline constexpr All all{};
/// A new axis of size 1.
struct NewAxis {};
inline constexpr NewAxis newaxis{};
/// As many whole axes as there are left.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};

/// One end of a slice: a number, a scalar integer tensor, or `std::nullopt` or `{}` for the end of
/// the axis.
class SliceBound {
 public:
  SliceBound() = default;
  SliceBound(std::nullopt_t) {}
  template <std::integral T>
    requires(!std::is_same_v<T, bool>)
  SliceBound(T n) : number(static_cast<int64_t>(n)) {}
  SliceBound(Tensor t) : tensor(std::move(t)) {
    tensor.id();
  }  // one that refers to nothing is refused
  std::optional<int64_t> number;
  Tensor tensor;
};
/// The first argument of `slice`, where a tensor would be the one that is sliced.
template <class T>
concept SliceNumber =
    (std::integral<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, std::nullopt_t>;

/// `slice(1, 3)` is NumPy's `1:3`, `slice(1, std::nullopt)` its `1:`. Not to be mistaken for
/// `slice(input, begin, size)`, which takes a box out of a tensor.
HOLDFAST_API IndexItem slice(const SliceBound& start, const SliceBound& stop);
namespace detail {
HOLDFAST_API IndexItem slice_item(const SliceBound&, const SliceBound&, const SliceBound& step);
}
/// With a step: `slice(0, 10, 2)`, `slice(std::nullopt, std::nullopt, -1)`.
template <SliceNumber Start, class Stop>
IndexItem slice(Start start, const Stop& stop, const SliceBound& step) {
  return detail::slice_item(start, stop, step);
}

namespace detail {
// What may stand between the brackets.
template <std::integral T>
  requires(!std::is_same_v<T, bool>)
IndexItem item_of(T i) {
  return {.kind = IndexItem::kInt, .start = static_cast<int64_t>(i)};
}
inline IndexItem item_of(Tensor i) { return {.kind = IndexItem::kTensor, .tensor = std::move(i)}; }
inline IndexItem item_of(IndexItem item) { return item; }
inline IndexItem item_of(All) { return {.kind = IndexItem::kSlice}; }
inline IndexItem item_of(NewAxis) { return {.kind = IndexItem::kNewAxis}; }
inline IndexItem item_of(Ellipsis) { return {.kind = IndexItem::kEllipsis}; }
}  // namespace detail

template <class T>
concept IndexLike = requires(const T& item) { detail::item_of(item); };

/// The first item between brackets, with the caller's line.
class Index : public IndexItem {
 public:
  template <IndexLike T>
  [[gnu::always_inline]] Index(const T& item,
                               const std::source_location& at = std::source_location::current())
      : IndexItem((mark_caller(at), detail::item_of(item))) {}
};

/// A part of a variable: read where a tensor is wanted, and changed by assigning to it. The rest of
/// the variable stays as it is.
class HOLDFAST_API VariablePart {
 public:
  VariablePart(const Variable& v, std::vector<IndexItem> items)
      : variable_(v), items_(std::move(items)) {}
  VariablePart(const VariablePart&) = default;

  /// The value now; tapes see the read.
  Tensor tensor() const;
  operator Tensor() const { return tensor(); }
  const VariablePart& operator=(const In& value) const;
  const VariablePart& assign(const In& value) const { return *this = value; }
  const VariablePart& assign_add(const In& delta) const { return *this += delta; }
  const VariablePart& assign_sub(const In& delta) const { return *this -= delta; }
  VariablePart& operator=(const VariablePart& value);
  const VariablePart& operator+=(const In& x) const;
  const VariablePart& operator-=(const In& x) const;
  const VariablePart& operator*=(const In& x) const;
  const VariablePart& operator/=(const In& x) const;

 private:
  Variable variable_;
  std::vector<IndexItem> items_;
};

namespace detail {
HOLDFAST_API Tensor part_of(const Tensor& t, std::initializer_list<IndexItem> items);
}  // namespace detail

/// What is indexed, with the caller's line.
class IndexedTensor {
 public:
  [[gnu::always_inline]] IndexedTensor(
      const Tensor& t, const std::source_location& at = std::source_location::current())
      : tensor(t) {
    mark_caller(at);
  }
  [[gnu::always_inline]] IndexedTensor(
      const VariablePart& part, const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    tensor = part.tensor();
  }
  Tensor tensor;
};
class IndexedVariable {
 public:
  [[gnu::always_inline]] IndexedVariable(
      const Variable& v, const std::source_location& at = std::source_location::current())
      : variable(v) {
    mark_caller(at);
  }
  const Variable& variable;
};

/// t[items...]: integers, `slice(a, b)`, `all`, `newaxis`, `ellipsis`, scalar integer tensors, or a
/// mask alone. It is const: assigning to it would change nothing.
template <IndexLike... Items>
  requires(sizeof...(Items) > 0)
const Tensor at(const IndexedTensor& t, const Items&... items) {
  return detail::part_of(t.tensor, {detail::item_of(items)...});
}
/// That part of a variable, to be read or assigned to.
template <IndexLike... Items>
  requires(sizeof...(Items) > 0)
VariablePart at(const IndexedVariable& v, const Items&... items) {
  return VariablePart(v.variable, {detail::item_of(items)...});
}

inline const Tensor Tensor::operator[](const Index& item) const {
  return detail::part_of(*this, {item});
}
template <class... More>
const Tensor Tensor::operator()(const Index& first, const More&... more) const {
  return detail::part_of(*this, {first, detail::item_of(more)...});
}
inline VariablePart Variable::operator[](const Index& item) const {
  return VariablePart(*this, {item});
}
template <class... More>
VariablePart Variable::operator()(const Index& first, const More&... more) const {
  return VariablePart(*this, {first, detail::item_of(more)...});
}

// -- rows

/// Where a loop over the first axis stands.
class HOLDFAST_API RowIterator {
 public:
  using value_type = Tensor;
  using reference = Tensor;
  using pointer = void;
  using difference_type = int64_t;
  using iterator_category = std::input_iterator_tag;
  RowIterator() = default;
  explicit RowIterator(Tensor of, int64_t at) : of_(std::move(of)), at_(at), where_(here()) {}
  Tensor operator*() const;
  RowIterator& operator++() {
    ++at_;
    return *this;
  }
  RowIterator operator++(int) {
    RowIterator before = *this;
    ++at_;
    return before;
  }
  bool operator==(const RowIterator& o) const { return at_ == o.at_; }

 private:
  Tensor of_;
  int64_t at_ = 0;
  Where where_ = nullptr;  // the loop's line: rows are born there
};
namespace detail {
HOLDFAST_API int64_t number_of_rows(const Tensor& t);
}
[[gnu::always_inline]] inline RowIterator begin(
    const Tensor& t, const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  detail::number_of_rows(t);
  return RowIterator(t, 0);
}
// For std::ranges, which takes no other for a tensor that is not const.
[[gnu::always_inline]] inline RowIterator begin(
    Tensor& t, const std::source_location& at = std::source_location::current()) {
  return begin(std::as_const(t), at);
}
[[gnu::always_inline]] inline RowIterator end(
    const Tensor& t, const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return RowIterator(Tensor(), detail::number_of_rows(t));
}
[[gnu::always_inline]] inline RowIterator end(
    Tensor& t, const std::source_location& at = std::source_location::current()) {
  return end(std::as_const(t), at);
}

// -- changing in place

/// `t` becomes the result; other holders of the old value keep it.
HOLDFAST_API Tensor& operator+=(Tensor& t, const In& x);
HOLDFAST_API Tensor& operator-=(Tensor& t, const In& x);
HOLDFAST_API Tensor& operator*=(Tensor& t, const In& x);
HOLDFAST_API Tensor& operator/=(Tensor& t, const In& x);
/// The variable changes: `assign_add`, `assign_sub`; a product or quotient reads it and assigns.
HOLDFAST_API const Variable& operator+=(const Variable& v, const In& x);
HOLDFAST_API const Variable& operator-=(const Variable& v, const In& x);
HOLDFAST_API const Variable& operator*=(const Variable& v, const In& x);
HOLDFAST_API const Variable& operator/=(const Variable& v, const In& x);

// -- identity

/// Whether both are the same tensor, not only equal ones.
inline bool same(const Tensor& a, const Tensor& b) { return a.rep() == b.rep(); }
/// For what compares tensors by identity: `std::ranges::find` and the like.
struct SameTensor {
  bool operator()(const Tensor& a, const Tensor& b) const { return same(a, b); }
};

}  // namespace holdfast

/// Of the tensor's identity.
template <>
struct std::hash<holdfast::Tensor> {
  size_t operator()(const holdfast::Tensor& t) const noexcept {
    return t.defined() ? static_cast<size_t>(t.rep()->id) : 0;
  }
};
/// Of their identity too, so that `std::unordered_map<Tensor, V>` works; `==` is element by
/// element.
template <>
struct std::equal_to<holdfast::Tensor> {
  bool operator()(const holdfast::Tensor& a, const holdfast::Tensor& b) const noexcept {
    return holdfast::same(a, b);
  }
};
/// Likewise, as `==` of variables.
template <>
struct std::hash<holdfast::Variable> {
  size_t operator()(const holdfast::Variable& v) const noexcept {
    return v.defined() ? static_cast<size_t>(v.handle().rep()->id) : 0;
  }
};
