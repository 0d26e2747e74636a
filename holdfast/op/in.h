// What C++ functions take where Python would take "a tensor or anything that becomes one".
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <string_view>
#include <vector>

#include "holdfast/base/concepts.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast {

class Arg;
class In;
class Sizes;
class Variable;

/// What is no tensor, but is one when it is read: a part of a variable, a gradient, an element of a
/// dataset.
template <class T>
concept ReadsAsTensor = requires(const T& x) {
  requires std::same_as<std::remove_cvref_t<decltype(x.tensor())>, Tensor>;
} && !DerivesFrom<T, In> && !DerivesFrom<T, Sizes>;

/// A text of C++: a literal, a std::string, a std::string_view.
template <class T>
concept TextLike = ConvertsTo<const T&, std::string_view> && !std::is_same_v<T, std::nullptr_t>;

namespace detail {
[[noreturn]] HOLDFAST_API void refuse_null_text();
template <TextLike T>
std::string_view text_of(const T& text) {
  if constexpr (std::is_pointer_v<T>)
    if (!text) refuse_null_text();
  return text;
}
}  // namespace detail

/// A number or a text in braces, or a row of them: what `gather(x, {0, 2})`, `gather_nd(x, {{0},
/// {1}})` and `strings::length({"a", "bc"})` are written with. It lives as long as the call.
class Braced {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  Braced(T v)
      : number_(static_cast<double>(v)),
        kind_(std::is_same_v<T, bool> ? Kind::kBool
              : std::is_integral_v<T> ? Kind::kInt
                                      : Kind::kFloat) {
    if constexpr (std::is_integral_v<T>) {
      int_ = static_cast<int64_t>(v);
      if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) beyond_int64_ = v > T(INT64_MAX);
    }
  }
  template <TextLike T>
  Braced(const T& text) : text_(detail::text_of(text)), kind_(Kind::kText) {}
  Braced(std::initializer_list<Braced> row) : row_(row), kind_(Kind::kRow) {}

 private:
  friend class In;
  enum class Kind : uint8_t { kBool, kInt, kFloat, kText, kRow };
  std::initializer_list<Braced> row_;
  std::string_view text_;
  double number_ = 0;
  int64_t int_ = 0;
  Kind kind_;
  bool beyond_int64_ = false;
};

/// A tensor, a variable or what else is read as one, a text, a vector or array of numbers, or a
/// number (or numbers in braces) that takes the dtype of the operand beside it.
///
/// Made at the call, it also notes the caller's line: that is where a result's birth comes from. It
/// is a parameter: made from a tensor that has a name it sees that tensor without counting it,
/// until it is copied. `KeptIn` may be stored.
class HOLDFAST_API In {
 public:
  [[gnu::always_inline]] In(const Tensor& t,
                            const std::source_location& at = std::source_location::current())
      : seen_(&t) {
    mark_caller(at);
  }
  [[gnu::always_inline]] In(Tensor&& t,
                            const std::source_location& at = std::source_location::current())
      : tensor_(std::move(t)) {
    mark_caller(at);
  }
  [[gnu::always_inline]] In(const Variable& v,
                            const std::source_location& at = std::source_location::current())
      : variable_(&v) {
    mark_caller(at);
  }
  template <ReadsAsTensor T>
  [[gnu::always_inline]] In(const T& x,
                            const std::source_location& at = std::source_location::current())
      : tensor_((mark_caller(at), x.tensor())) {}  // the read is the caller's too
  template <class T>
    requires std::is_arithmetic_v<T>
  [[gnu::always_inline]] In(T v, const std::source_location& at = std::source_location::current())
      : weak_(std::is_same_v<T, bool> ? Weak::kBool
              : std::is_integral_v<T> ? Weak::kInt
                                      : Weak::kFloat),
        beyond_int64_(beyond_int64(v)),
        float_(static_cast<double>(v)),
        int_(std::is_integral_v<T> ? static_cast<int64_t>(v) : 0) {
    mark_caller(at);
  }
  [[gnu::always_inline]] In(std::initializer_list<Braced> numbers,
                            const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    take(numbers);
  }
  template <TextLike T>
  [[gnu::always_inline]] In(const T& text,
                            const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    take(detail::text_of(text));
  }
  /// A copy of the elements, of their own type.
  template <class T>
    requires std::is_arithmetic_v<T>
  [[gnu::always_inline]] In(const std::vector<T>& values,
                            const std::source_location& at = std::source_location::current())
      : tensor_(Tensor::of(values, at)) {}
  template <class T, size_t N>
    requires std::is_arithmetic_v<T>
  [[gnu::always_inline]] In(const std::array<T, N>& values,
                            const std::source_location& at = std::source_location::current())
      : tensor_(Tensor::of(values, Shape{N}, at)) {}
  template <ComplexLike T>
  [[gnu::always_inline]] In(const T& value,
                            const std::source_location& at = std::source_location::current())
      : tensor_(Tensor::of(std::span<const T>(&value, 1), Shape{}, at)) {}
  // A copy owns what it refers to, even if the original only saw it.
  In(const In& o)
      : tensor_(o.held()),
        variable_(o.variable_),
        weak_(o.weak_),
        beyond_int64_(o.beyond_int64_),
        float_(o.float_),
        int_(o.int_) {}
  In& operator=(const In& o) {
    if (this == &o) return *this;
    tensor_ = o.held();
    seen_ = nullptr;
    variable_ = o.variable_;
    weak_ = o.weak_;
    beyond_int64_ = o.beyond_int64_;
    float_ = o.float_;
    int_ = o.int_;
    return *this;
  }

  /// A number, or several in braces, that has no dtype of its own yet.
  bool weak() const { return weak_ != Weak::kNo; }
  /// One number alone.
  bool number() const { return weak() && !tensor_.defined(); }
  /// The tensor; a number becomes `hint`, or int32/float32/bool when there is no hint.
  Tensor tensor(DType hint = DType::kInvalid) const;
  operator Tensor() const { return tensor(); }
  /// The dtype it has, or kInvalid for a number.
  DType dtype() const;
  const Variable* variable() const { return variable_; }
  /// The tensor it was made from, not counted; null for a variable or a number.
  const Tensor* borrowed() const { return variable_ || weak() ? nullptr : &held(); }
  /// What other languages would write for it: a number stays a number.
  Arg arg() const;
  static In from(const Arg&);
  /// False for an optional one that is not there.
  bool given() const { return weak() || variable_ || held().defined(); }

 protected:
  In() = default;  // one that is not given; notes no line

 private:
  const Tensor& held() const { return seen_ ? *seen_ : tensor_; }
  template <class T>
  static constexpr bool beyond_int64(T v) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) return v > T(INT64_MAX);
    return false;
  }
  enum class Weak : uint8_t { kNo, kBool, kInt, kFloat };
  void take(std::initializer_list<Braced>);
  void take(std::string_view text);
  /// The numbers in braces, each as `d`.
  Tensor listed(DType d) const;
  /// Whether a number fits into a dtype of its own kind.
  bool fits(DType) const;
  /// The dtype of a number that stands alone.
  DType own_dtype() const;
  /// The number as `d`, or an error that says why it is none.
  Tensor number_as(DType d) const;
  Tensor tensor_;  // of numbers in braces: as int64, float64 or bool
  const Tensor* seen_ = nullptr;
  const Variable* variable_ = nullptr;
  Weak weak_ = Weak::kNo;
  bool beyond_int64_ = false;  // an unsigned number whose bits `int_` holds
  double float_ = 0;
  int64_t int_ = 0;
};

/// One that options hold: it owns what it was made from.
class HOLDFAST_API KeptIn : public In {
 public:
  using In::In;
  KeptIn(const In& in) : In(in) {}
  [[gnu::always_inline]] KeptIn(const Tensor& t,
                                const std::source_location& at = std::source_location::current())
      : In(Tensor(t), at) {}

 protected:
  KeptIn() = default;
};

/// One that may be left out; otherwise as a std::optional, in which the caller's line would be lost
/// and a tensor that it was made from would not be kept.
class HOLDFAST_API MaybeIn : public KeptIn {
 public:
  using KeptIn::KeptIn;
  MaybeIn() = default;
  MaybeIn(std::nullopt_t) {}
  bool has_value() const { return given(); }
  explicit operator bool() const { return given(); }
  const In& operator*() const { return *this; }
  const In* operator->() const { return this; }
};

/// A list of them.
class HOLDFAST_API Ins {
 public:
  Ins(std::initializer_list<In> list);
  [[gnu::always_inline]] Ins(const std::vector<Tensor>& list,
                             const std::source_location& at = std::source_location::current())
      : Ins(std::span<const Tensor>(list)) {
    mark_caller(at);
  }
  [[gnu::always_inline]] Ins(const Tensors& list,
                             const std::source_location& at = std::source_location::current())
      : Ins(std::span<const Tensor>(list)) {
    mark_caller(at);
  }
  template <size_t N>
  [[gnu::always_inline]] Ins(const std::array<Tensor, N>& list,
                             const std::source_location& at = std::source_location::current())
      : Ins(std::span<const Tensor>(list)) {
    mark_caller(at);
  }
  explicit Ins(std::span<const Tensor> list);
  Ins(const Ins&);
  Ins& operator=(const Ins&);
  ~Ins();
  size_t size() const { return list_.size(); }
  const In& operator[](size_t i) const { return list_[i]; }
  /// All as tensors of one dtype: that of the first that has one.
  Tensors tensors() const;

 private:
  std::vector<KeptIn> list_;
};

/// Sizes, axes or offsets: numbers, or an integer tensor that holds them. Made at the call, it
/// notes the caller's line as `In` does.
class HOLDFAST_API Sizes {
  struct Nothing {};

 public:
  /// No sizes: `zeros({})` is a scalar.
  [[gnu::always_inline]] Sizes(Nothing = {},
                               const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
  }
  [[gnu::always_inline]] Sizes(std::initializer_list<Dim> v,
                               const std::source_location& at = std::source_location::current())
      : ints_(v.begin(), v.end()) {
    mark_caller(at);
  }
  template <std::integral T>
  [[gnu::always_inline]] Sizes(const std::vector<T>& v,
                               const std::source_location& at = std::source_location::current())
      : ints_(v.begin(), v.end()) {
    mark_caller(at);
  }
  template <std::integral T, size_t N>
  [[gnu::always_inline]] Sizes(const std::array<T, N>& v,
                               const std::source_location& at = std::source_location::current())
      : ints_(v.begin(), v.end()) {
    mark_caller(at);
  }
  template <std::integral T, size_t N>
  [[gnu::always_inline]] Sizes(std::span<T, N> v,
                               const std::source_location& at = std::source_location::current())
      : ints_(v.begin(), v.end()) {
    mark_caller(at);
  }
  [[gnu::always_inline]] Sizes(const Shape& s,
                               const std::source_location& at = std::source_location::current())
      : ints_(s.dims()) {
    mark_caller(at);
  }
  [[gnu::always_inline]] Sizes(const Dims& d,
                               const std::source_location& at = std::source_location::current())
      : ints_(d) {
    mark_caller(at);
  }
  template <std::integral T>
  [[gnu::always_inline]] Sizes(T one,
                               const std::source_location& at = std::source_location::current())
      : ints_{static_cast<int64_t>(one)}, single_(true) {
    mark_caller(at);
  }
  [[gnu::always_inline]] Sizes(Tensor t,
                               const std::source_location& at = std::source_location::current())
      : tensor_(std::move(t)) {
    mark_caller(at);
  }

  /// True when it was given as a tensor.
  bool is_tensor() const { return tensor_.defined(); }
  /// True when it was one bare number, not a list.
  bool single() const { return single_; }
  /// As an integer tensor on the host: int32 where the numbers fit, else int64.
  Tensor tensor() const;
  /// As numbers; a tensor is read.
  Dims ints() const;

 protected:
  explicit Sizes(std::nullopt_t) {}  // none are given; notes no line

 private:
  Dims ints_;
  bool single_ = false;
  Tensor tensor_;
};

/// Sizes or axes that may be left out, otherwise as a std::optional of them: `{.axis = {0, 1}}`,
/// `{.axis = -1}`. An empty list is `Sizes{}`.
class HOLDFAST_API Axes : public Sizes {
 public:
  Axes() : Sizes(std::nullopt) {}
  Axes(std::nullopt_t) : Sizes(std::nullopt) {}
  Axes(Sizes given) : Sizes(std::move(given)), given_(true) {}
  [[gnu::always_inline]] Axes(std::initializer_list<Dim> v,
                              const std::source_location& at = std::source_location::current())
      : Sizes(v, at), given_(true) {}
  template <class T>
    requires(std::is_constructible_v<Sizes, T> && !std::is_base_of_v<Sizes, std::decay_t<T>>)
  [[gnu::always_inline]] Axes(T&& v,
                              const std::source_location& at = std::source_location::current())
      : Sizes(std::forward<T>(v), at), given_(true) {}
  bool has_value() const { return given_; }
  explicit operator bool() const { return given_; }
  const Sizes& operator*() const { return *this; }
  const Sizes* operator->() const { return this; }

 private:
  bool given_ = false;
};

}  // namespace holdfast
