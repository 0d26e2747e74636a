// One argument of a call, whatever its type: how attributes are kept and how other languages call.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

using Ints = std::vector<int64_t>;

/// Nothing, a number, a text, a dtype, a shape, a list, a tensor or several, or an object of the
/// op's own.
class HOLDFAST_API Arg {
 public:
  using Value =
      std::variant<std::monostate, bool, int64_t, double, std::string, DType, Shape, Ints,
                   std::vector<double>, std::vector<std::string>, Tensor, Tensors, Ref<RefCounted>>;

  Arg() = default;
  Arg(const Arg&);
  Arg(Arg&&) noexcept;
  Arg& operator=(const Arg&);
  Arg& operator=(Arg&&) noexcept;
  ~Arg();
  Arg(bool v) : value_(v) {}
  Arg(int v) : value_(int64_t{v}) {}
  Arg(int64_t v) : value_(v) {}
  Arg(double v) : value_(v) {}
  Arg(const char* v) : value_(std::string(v)) {}
  Arg(std::string v) : value_(std::move(v)) {}
  Arg(DType v) : value_(v) {}
  Arg(Shape v) : value_(std::move(v)) {}
  Arg(Ints v) : value_(std::move(v)) {}
  Arg(std::vector<double> v) : value_(std::move(v)) {}
  Arg(std::vector<std::string> v) : value_(std::move(v)) {}
  Arg(Tensor v) : value_(std::move(v)) {}
  Arg(Tensors v) : value_(std::move(v)) {}
  Arg(Ref<RefCounted> v) : value_(std::move(v)) {}
  template <class T>
  Arg(const std::optional<T>& v) {
    if (v) *this = Arg(*v);
  }

  const Value& value() const { return value_; }
  bool none() const { return value_.index() == 0; }
  bool b() const { return get<bool>("a bool"); }
  int64_t i() const { return get<int64_t>("an int"); }
  double f() const;  // an int is a float too
  const std::string& s() const { return get<std::string>("a string"); }
  DType dtype() const { return get<DType>("a dtype"); }
  const Shape& shape() const { return get<Shape>("a shape"); }
  const Ints& ints() const { return get<Ints>("a list of ints"); }
  const std::vector<double>& floats() const { return get<std::vector<double>>("a list of floats"); }
  const std::vector<std::string>& strings() const {
    return get<std::vector<std::string>>("a list of strings");
  }
  const Tensor& tensor() const { return get<Tensor>("a tensor"); }
  const Tensors& tensors() const { return get<Tensors>("a list of tensors"); }

  /// What an op keeps that only it understands: a body of a loop, a fused expression.
  RefCounted* object() const { return get<Ref<RefCounted>>("an object").get(); }

  /// As a person would write it; also what two equal arguments have in common.
  std::string text() const;

 private:
  template <class T>
  const T& get(const char* expected) const {
    if (auto* p = std::get_if<T>(&value_)) return *p;
    wrong_type(expected);
  }
  [[noreturn]] void wrong_type(const char* expected) const;
  Value value_;
};

/// An op's attributes, in the order it declares them.
using Attrs = InlineVector<Arg, 2>;

}  // namespace holdfast
