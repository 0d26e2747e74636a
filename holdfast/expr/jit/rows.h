// A list with folds as one function over rows: as few loops over each row as its folds allow.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "holdfast/expr/fused.h"
#include "holdfast/expr/jit/body.h"

namespace holdfast::jit {

struct RowFunction {
  Function function;
  std::vector<int> values;  // of the list, one for each of the function's arrays
  /// Outputs that are written before an input is read for the last time: the two must not share
  /// memory.
  std::vector<std::pair<size_t, size_t>> apart;  // output, input
};

/// The whole list as one function; nothing where some of it has no code.
std::optional<RowFunction> rows_of(const Expr&);

}  // namespace holdfast::jit
