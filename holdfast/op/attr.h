// Attributes by name and type: an op's file says them in a struct, and shape rule, kernels and
// gradient read its fields.
//
//   struct StackAttrs { Attr<int64_t> axis; };
//   ... .attr("axis", 0).attrs<&StackAttrs::axis>() ...
//   int64_t axis = c.attrs<StackAttrs>().axis();
//
// Such a struct is a list of addresses, which the compiler sees through: a read costs what a read
// by position costs. Registration compares fields with the op's attributes, and refuses a name, a
// type or an order that differs.
#pragma once

#include <string_view>
#include <utility>

#include "holdfast/op/arg.h"

namespace holdfast {

/// How an attribute of type T is read, and whether it can have `default_value`.
template <class T>
struct AttrType;
#define HOLDFAST_ATTR(T, Read, accessor)                    \
  template <>                                               \
  struct HOLDFAST_API AttrType<T> {                         \
    static Read read(const Arg& a) { return a.accessor(); } \
    static bool takes(const Arg& default_value);            \
  };
HOLDFAST_ATTR(bool, bool, b)
HOLDFAST_ATTR(int64_t, int64_t, i)
HOLDFAST_ATTR(double, double, f)
HOLDFAST_ATTR(std::string, const std::string&, s)
HOLDFAST_ATTR(DType, DType, dtype)
HOLDFAST_ATTR(Shape, const Shape&, shape)
HOLDFAST_ATTR(Ints, const Ints&, ints)
HOLDFAST_ATTR(std::vector<double>, const std::vector<double>&, floats)
HOLDFAST_ATTR(std::vector<std::string>, const std::vector<std::string>&, strings)
HOLDFAST_ATTR(Tensor, const Tensor&, tensor)
HOLDFAST_ATTR(RefCounted, RefCounted*, object)
#undef HOLDFAST_ATTR
/// For what may be of several types: read as it is.
template <>
struct AttrType<Arg> {
  static const Arg& read(const Arg& a) { return a; }
  static bool takes(const Arg&) { return true; }
};

/// A field of a struct of attributes. All fields of such a struct are of this kind, in the order in
/// which the op declares its attributes; those behind the last one may be left out. An underscore
/// at the end of a name is not part of it: `template_` reads the attribute `template`.
template <class T>
class Attr {
 public:
  Attr() = default;
  explicit Attr(const Arg* at) : at_(at) {}
  decltype(auto) operator()() const { return AttrType<T>::read(*at_); }
  /// As it is kept: to hand it on, or to show it.
  const Arg& arg() const { return *at_; }

  static bool takes(const Arg& default_value) { return AttrType<T>::takes(default_value); }

 private:
  const Arg* at_ = nullptr;
};

namespace detail {

/// What tells structs of attributes apart.
template <class A>
inline constexpr char kAttrsOf = 0;

template <class A>
inline constexpr size_t kFields = sizeof(A) / sizeof(Attr<bool>);

struct AttrAt {
  const Arg* at;
  template <class T>
  operator Attr<T>() const {
    return Attr<T>(at);
  }
};

/// The fields, each at its attribute.
template <class A>
A attrs_at(const Arg* first) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return A{AttrAt{first + I}...};
  }(std::make_index_sequence<kFields<A>>());
}

/// The name of a field, as it is written.
template <auto Field>
constexpr std::string_view field_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(text.find("Field = "));
  text = text.substr(0, text.find_first_of(";]"));
  text = text.substr(text.rfind("::") + 2);
  while (text.back() == ')' || text.back() == '_') text.remove_suffix(1);
  return text;
}

}  // namespace detail
}  // namespace holdfast
