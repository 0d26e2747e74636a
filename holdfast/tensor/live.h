// What lives in memory now, and which lines of the program made it.
#pragma once

#include <string>
#include <vector>

#include "holdfast/tensor/ledger.h"

namespace holdfast {

enum class GroupBy : uint8_t { kNothing, kLine };

/// Live memory that one line made; or one piece of it.
struct LiveTensors {
  size_t bytes = 0;
  int64_t count = 0;
  Loc line;  // an empty file where it is not known
  DType dtype = DType::kInvalid;
  Shape shape;        // of the largest, as it was made
  bool alike = true;  // all have that dtype and shape
};

/// The live buffers of at least `kLedgerBytes`, largest first; by line, or each by itself. A tensor
/// that looks into another's memory is not counted again.
HOLDFAST_API std::vector<LiveTensors> live_tensors(GroupBy group_by = GroupBy::kLine);

/// A table of them, a row each.
HOLDFAST_API std::string live_text(const std::vector<LiveTensors>& all);

}  // namespace holdfast
