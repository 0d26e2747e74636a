// A batch that a stage takes apart, row after row.
#pragma once

#include "holdfast/data/node.h"

namespace holdfast::data {

class OpenBatch {
 public:
  /// Of a stage, for its messages and what its input gives.
  explicit OpenBatch(const DatasetObject& stage) : stage_(stage) {}
  /// The next row, of this batch or of one that `input` gives after it; false at its end.
  bool next(Cursor& input, Nested& out);
  void save(Saving& to) const;
  void restore(Restoring& from);

 private:
  void open();
  const DatasetObject& stage_;
  Nested batch_;
  Ref<Rows> rows_;
  int64_t at_ = 0, size_ = 0;
};

}  // namespace holdfast::data
