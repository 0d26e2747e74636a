#include "holdfast/passes/row_fold.h"

#include <algorithm>

#include "holdfast/expr/cpu/fold_table.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

constexpr int64_t kLeastRow = 8;  // shorter ones cost more calls than they save memory

// The elements of one row, where `n` reduces the last axes and nothing else; 0 otherwise.
int64_t row_of(const Node& n) {
  if (!n.inputs[0].node || !n.inputs[1].node || n.inputs[1].node->op != &const_op()) return 0;
  const Shape& shape = type_of(n.inputs[0]).shape;
  if (!shape.is_full() || !n.after.empty()) return 0;
  const Tensor& axes = constant_of(*n.inputs[1].node);
  Dims list;
  for (int64_t i = 0; i < axes.size(); ++i) {
    int64_t a = axes.dtype() == int64 ? axes.raw<int64_t>()[i] : axes.raw<int32_t>()[i];
    list.push_back(a < 0 ? a + shape.rank() : a);
  }
  std::sort(list.begin(), list.end());
  int64_t row = 1;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] != shape.rank() - static_cast<int64_t>(list.size() - i)) return 0;
    row *= shape[static_cast<int>(list[i])];
  }
  return shape.size() > 0 ? row : 0;
}

}  // namespace

std::optional<RowFoldOf> row_fold(const Node& n) {
  if (!n.op->fold) return std::nullopt;
  int64_t row = row_of(n);
  DType dtype = row ? type_of(n.inputs[0]).dtype : DType::kBool;
  if (row < kLeastRow || row > kFoldPiece || dtype == DType::kBool) return std::nullopt;
  if (!fold_loops(*n.op->fold, dtype).rows) return std::nullopt;
  return RowFoldOf{row, constant_of(*n.inputs[1].node)};
}

}  // namespace holdfast
