// What an argument is made of.
#pragma once

#include <variant>

#include "holdfast/op/arg.h"

namespace holdfast {

struct Arg::Value final : std::variant<std::monostate, bool, int64_t, double, std::string, DType,
                                       Shape, Ints, std::vector<double>, std::vector<std::string>,
                                       Tensor, Tensors, Ref<RefCounted>> {
  using variant::variant;
};

}  // namespace holdfast
