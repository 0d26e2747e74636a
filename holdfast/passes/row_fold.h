// Reductions over trailing axes, as expressions compute them.
#pragma once

#include <optional>

#include "holdfast/expr/fused.h"
#include "holdfast/graph/graph.h"

namespace holdfast {

struct RowFoldOf {
  int64_t row;  // elements that become one
  Tensor axes;
};

/// How a node reduces the last axes of its operand and nothing else; nothing where it does
/// something else, or where rows are too short to be worth it or so long that they are cut.
std::optional<RowFoldOf> row_fold(const Node& n);

}  // namespace holdfast
