// What tensors, shapes, dtypes, variables and modules look like in print: `std::cout << t`,
// `to_string(t)`. GoogleTest shows them like this, too.
#pragma once

#include <concepts>
#include <iosfwd>
#include <string>

#include "holdfast/base/concepts.h"
#include "holdfast/exec/module.h"
#include "holdfast/exec/nested.h"

namespace holdfast {

/// The elements as Python prints them, `[[1. 2.]]`; what has no value yet says so.
HOLDFAST_API std::string to_string(const Tensor& t);
/// "[2,3]"
HOLDFAST_API std::string to_string(const Shape& shape);
/// "float32"
HOLDFAST_API std::string to_string(DType dtype);
/// "Variable `w`, float32[2]: [1. 2.]". No tape sees that it was read.
HOLDFAST_API std::string to_string(const Variable& v);
/// Its tensors in their form: `([1. 2.], {'b': 3.})`.
HOLDFAST_API std::string to_string(const Nested& nested);
/// Its name, and its variables, one a line.
HOLDFAST_API std::string to_string(const Module& module);

namespace detail {
// Only what is ours: much else becomes a Shape or a Tensor where one is wanted.
template <class T>
concept Printable =
    std::same_as<T, Tensor> || std::same_as<T, Shape> || std::same_as<T, DType> ||
    std::same_as<T, Variable> || DerivesFrom<T, Module> || DerivesFrom<T, holdfast::Nested>;
HOLDFAST_API void put(std::ostream& out, const std::string& text);
}  // namespace detail

template <detail::Printable T>
std::ostream& operator<<(std::ostream& out, const T& x) {
  detail::put(out, to_string(x));
  return out;
}

}  // namespace holdfast
