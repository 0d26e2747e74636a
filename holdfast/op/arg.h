// One argument of a call, whatever its type: how attributes are kept and how other languages call.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

using Ints = std::vector<int64_t>;

/// Nothing, a number, a text, a dtype, a shape, a list, a tensor or several, or an object of the
/// op's own.
class HOLDFAST_API Arg {
 public:
  struct Value;  // op/arg_value.h: programs have no use for it, and it takes long to read

  Arg();
  Arg(const Arg&);
  Arg(Arg&&) noexcept;
  Arg& operator=(const Arg&);
  Arg& operator=(Arg&&) noexcept;
  ~Arg();
  Arg(bool v);
  Arg(int v);
  Arg(int64_t v);
  Arg(double v);
  Arg(const char* v);
  Arg(std::string v);
  Arg(DType v);
  Arg(Shape v);
  Arg(Ints v);
  Arg(std::vector<double> v);
  Arg(std::vector<std::string> v);
  Arg(Tensor v);
  Arg(Tensors v);
  Arg(Ref<RefCounted> v);
  template <class T>
  Arg(const std::optional<T>& v) {
    if (v) *this = Arg(*v);
  }

  const Value& value() const { return *reinterpret_cast<const Value*>(store_); }
  bool none() const;
  bool b() const;
  int64_t i() const;
  double f() const;  // an int is a float too
  const std::string& s() const;
  DType dtype() const;
  const Shape& shape() const;
  const Ints& ints() const;
  const std::vector<double>& floats() const;
  const std::vector<std::string>& strings() const;
  const Tensor& tensor() const;
  const Tensors& tensors() const;

  /// What an op keeps that only it understands: a body of a loop, a fused expression.
  RefCounted* object() const;

  /// As a person would write it; also what two equal arguments have in common.
  std::string text() const;

 private:
  template <class T>
  explicit Arg(std::in_place_t, T&& v);
  template <class T>
  const T& get(const char* expected) const;
  [[noreturn]] void wrong_type(const char* expected) const;
  Value& kept() { return *reinterpret_cast<Value*>(store_); }
  static constexpr size_t kBytes = 96;
  alignas(8) unsigned char store_[kBytes];  // a Value
};

/// An op's attributes, in the order it declares them.
using Attrs = InlineVector<Arg, 2>;

}  // namespace holdfast
