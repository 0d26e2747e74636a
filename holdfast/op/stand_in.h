// Symbols that stand for values in code which runs apart from the graph they belong to.
#pragma once

#include <span>
#include <string>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

/// A loss that closes over a symbol of a model means the value which that has in the step that is
/// being run. Whoever makes such symbols says here what they stand for.
struct StandIns {
  /// The values in the place of such symbols among `in`; false where there is none to replace.
  bool (*replace)(std::span<const Tensor> in, Tensors& out) = nullptr;
  /// Throws for such a symbol, which has no value where it is used. Returns where `t` is something
  /// else.
  void (*refuse)(const Tensor& t) = nullptr;
  /// What the code below a line made such a symbol of, and did not make itself.
  Tensor (*made_before)(const Tensor& t, Where line) = nullptr;
  /// What the program calls a symbol where it is now; "" where that is not known. A language's.
  std::string (*name)(const Tensor& t) = nullptr;
};
HOLDFAST_API StandIns& stand_ins();

}  // namespace holdfast
