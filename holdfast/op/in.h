// What C++ functions take where Python would take "a tensor or anything that becomes one".
#pragma once

#include <initializer_list>
#include <optional>
#include <source_location>
#include <vector>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

class Arg;
class Variable;

/// A tensor, a variable (read), or a number that takes the dtype of the operand beside it.
///
/// Made at the call, it also notes the caller's line: that is where a result's birth comes from. It
/// is a parameter: made from a tensor that has a name it sees that tensor without counting it,
/// until it is copied. `KeptIn` may be stored.
class HOLDFAST_API In {
 public:
#ifdef HOLDFAST_BUILDING
#define HOLDFAST_MARK(at) (void)at
#else
#define HOLDFAST_MARK(at) mark_site(at)
#endif
  [[gnu::always_inline]] In(const Tensor& t,
                            const std::source_location& at = std::source_location::current())
      : seen_(&t) {
    HOLDFAST_MARK(at);
  }
  [[gnu::always_inline]] In(Tensor&& t,
                            const std::source_location& at = std::source_location::current())
      : tensor_(std::move(t)) {
    HOLDFAST_MARK(at);
  }
  [[gnu::always_inline]] In(const Variable& v,
                            const std::source_location& at = std::source_location::current())
      : variable_(&v) {
    HOLDFAST_MARK(at);
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  [[gnu::always_inline]] In(T v, const std::source_location& at = std::source_location::current())
      : weak_(std::is_same_v<T, bool> ? Weak::kBool
              : std::is_integral_v<T> ? Weak::kInt
                                      : Weak::kFloat),
        float_(static_cast<double>(v)),
        int_(std::is_integral_v<T> ? static_cast<int64_t>(v) : 0) {
    HOLDFAST_MARK(at);
  }
  // A copy owns what it refers to, even if the original only saw it.
  In(const In& o)
      : tensor_(o.held()), variable_(o.variable_), weak_(o.weak_), float_(o.float_), int_(o.int_) {}
  In& operator=(const In& o) {
    if (this == &o) return *this;
    tensor_ = o.held();
    seen_ = nullptr;
    variable_ = o.variable_;
    weak_ = o.weak_;
    float_ = o.float_;
    int_ = o.int_;
    return *this;
  }

  /// A number that has no dtype of its own yet.
  bool weak() const { return weak_ != Weak::kNo; }
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
  bool given() const { return weak() || variable_ || held(); }

#undef HOLDFAST_MARK

 private:
  const Tensor& held() const { return seen_ ? *seen_ : tensor_; }
  enum class Weak : uint8_t { kNo, kBool, kInt, kFloat };
  Tensor tensor_;
  const Tensor* seen_ = nullptr;
  const Variable* variable_ = nullptr;
  Weak weak_ = Weak::kNo;
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
};

/// One that may be left out. (In a std::optional the caller's line would be lost.)
class HOLDFAST_API MaybeIn : public KeptIn {
 public:
  using KeptIn::KeptIn;
  [[gnu::always_inline]] MaybeIn(std::nullopt_t,
                                 const std::source_location& at = std::source_location::current())
      : KeptIn(Tensor(), at) {}
};

/// A list of them.
class HOLDFAST_API Ins {
 public:
  Ins(std::initializer_list<In> list);
  Ins(const std::vector<Tensor>& list);
  Ins(const Tensors& list);
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

/// Sizes, axes or offsets: numbers, or an integer tensor that holds them.
class HOLDFAST_API Sizes {
 public:
  Sizes() : Sizes(std::initializer_list<int64_t>{}) {}
  Sizes(std::initializer_list<int64_t> v) : ints_(v) {}
  Sizes(const std::vector<int64_t>& v) : ints_(v.begin(), v.end()) {}
  Sizes(const Shape& s) : ints_(s.dims()) {}
  Sizes(const Dims& d) : ints_(d) {}
  Sizes(int64_t one) : ints_{one}, single_(true) {}
  Sizes(int one) : ints_{one}, single_(true) {}
  Sizes(Tensor t) : tensor_(std::move(t)) {}

  /// True when it was given as a tensor.
  bool is_tensor() const { return static_cast<bool>(tensor_); }
  /// True when it was one bare number, not a list.
  bool single() const { return single_; }
  /// As an integer tensor on the host: int32 where the numbers fit, else int64.
  Tensor tensor() const;
  /// As numbers; a tensor is read.
  Dims ints() const;

 private:
  Dims ints_;
  bool single_ = false;
  Tensor tensor_;
};

/// Axes to reduce over; none given means all of them.
using Axes = std::optional<Sizes>;

}  // namespace holdfast
