// How the operands of an expression lie for one run: from shapes alone, for any device.
#pragma once

#include <vector>

#include "holdfast/expr/fused.h"

namespace holdfast {

/// How a program finds the element of an operand.
enum class Access : uint8_t {
  kDense,    // in the order of the domain, or of the rows where it has one element a row
  kColumn,   // by its place in the row: each row reads the same
  kStrided,  // by axes and strides; broadcast = stride 0
  kOne,      // one element in memory
  kValue,    // one number that is known when the run begins
};

/// The inputs and numbers that instructions or outputs read, as values of the list.
HOLDFAST_API std::vector<int> loads_of(const Expr&);

struct Layout {
  InlineVector<Access, 8> access;  // of each load
  Dims sizes;                      // axes of the domain from the inside out, where strides are
  InlineVector<Dims, 4> strides;   // by those axes, of each strided load
};

/// The layout of `loads` over `domain`, to which inputs of shapes `in` broadcast. Axes are joined
/// where no strided load tells them apart.
HOLDFAST_API Layout layout_of(const Expr&, std::span<const int> loads,
                              std::span<const Shape* const> in, const Shape& domain);

}  // namespace holdfast
