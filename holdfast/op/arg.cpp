#include "holdfast/op/arg.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/op/arg_value.h"

namespace holdfast {
namespace {

template <class List, class F>
std::string joined(const List& list, F&& text) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) out += (i ? ", " : "") + text(list[i]);
  return out + "]";
}

struct Printer {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool v) const { return v ? "True" : "False"; }
  std::string operator()(int64_t v) const { return cat(v); }
  std::string operator()(double v) const { return cat(v); }
  std::string operator()(const std::string& v) const { return "'" + v + "'"; }
  std::string operator()(DType v) const { return name(v); }
  std::string operator()(const Shape& v) const { return v.text(); }
  std::string operator()(const Ints& v) const {
    return joined(v, [](int64_t x) { return cat(x); });
  }
  std::string operator()(const std::vector<double>& v) const {
    return joined(v, [](double x) { return cat(x); });
  }
  std::string operator()(const std::vector<std::string>& v) const {
    return joined(v, [](const std::string& x) { return "'" + x + "'"; });
  }
  std::string operator()(const Tensor& v) const {
    return v.defined() ? cat(name(v.dtype()), v.shape().text()) : "None";
  }
  std::string operator()(const Tensors& v) const { return joined(v, *this); }
  std::string operator()(const Ref<RefCounted>& v) const { return v ? v->text() : "None"; }
};

}  // namespace

static_assert(std::is_nothrow_move_constructible_v<Arg::Value>);

Arg::Arg() {
  static_assert(sizeof(Value) <= kBytes && alignof(Value) <= 8);
  new (store_) Value();
}
template <class T>
Arg::Arg(std::in_place_t, T&& v) {
  new (store_) Value(std::forward<T>(v));
}
bool Arg::none() const { return value().index() == 0; }

Arg::Arg(bool v) : Arg(std::in_place, v) {}
Arg::Arg(int v) : Arg(std::in_place, int64_t{v}) {}
Arg::Arg(int64_t v) : Arg(std::in_place, v) {}
Arg::Arg(double v) : Arg(std::in_place, v) {}
Arg::Arg(const char* v) : Arg(std::in_place, std::string(v)) {}
Arg::Arg(std::string v) : Arg(std::in_place, std::move(v)) {}
Arg::Arg(DType v) : Arg(std::in_place, v) {}
Arg::Arg(Shape v) : Arg(std::in_place, std::move(v)) {}
Arg::Arg(Ints v) : Arg(std::in_place, std::move(v)) {}
Arg::Arg(std::vector<double> v) : Arg(std::in_place, std::move(v)) {}
Arg::Arg(std::vector<std::string> v) : Arg(std::in_place, std::move(v)) {}
Arg::Arg(Tensor v) : Arg(std::in_place, std::move(v)) {}
Arg::Arg(Tensors v) : Arg(std::in_place, std::move(v)) {}
Arg::Arg(Ref<RefCounted> v) : Arg(std::in_place, std::move(v)) {}

template <class T>
const T& Arg::get(const char* expected) const {
  if (auto* p = std::get_if<T>(&value())) return *p;
  wrong_type(expected);
}
bool Arg::b() const { return get<bool>("a bool"); }
int64_t Arg::i() const { return get<int64_t>("an int"); }
const std::string& Arg::s() const { return get<std::string>("a string"); }
DType Arg::dtype() const { return get<DType>("a dtype"); }
const Shape& Arg::shape() const { return get<Shape>("a shape"); }
const Ints& Arg::ints() const { return get<Ints>("a list of ints"); }
const std::vector<double>& Arg::floats() const {
  return get<std::vector<double>>("a list of floats");
}
const std::vector<std::string>& Arg::strings() const {
  return get<std::vector<std::string>>("a list of strings");
}
const Tensor& Arg::tensor() const { return get<Tensor>("a tensor"); }
const Tensors& Arg::tensors() const { return get<Tensors>("a list of tensors"); }
RefCounted* Arg::object() const { return get<Ref<RefCounted>>("an object").get(); }

Arg::Arg(const Arg& o) { new (store_) Value(o.value()); }
Arg::Arg(Arg&& o) noexcept { new (store_) Value(std::move(o.kept())); }
Arg& Arg::operator=(const Arg& o) {
  kept() = o.value();
  return *this;
}
Arg& Arg::operator=(Arg&& o) noexcept {
  kept() = std::move(o.kept());
  return *this;
}
Arg::~Arg() { kept().~Value(); }

double Arg::f() const {
  if (auto* i = std::get_if<int64_t>(&value())) return static_cast<double>(*i);
  return get<double>("a float");
}

std::string Arg::text() const { return std::visit(Printer{}, value()); }

void Arg::wrong_type(const char* expected) const {
  fail(Code::E1104, cat("an argument is ", text(), ", expected ", expected));
}

}  // namespace holdfast
