// The list of large live buffers, so that an out-of-memory message can say what fills the memory.
#pragma once

#include <vector>

#include "holdfast/base/where.h"
#include "holdfast/tensor/dtype.h"
#include "holdfast/tensor/shape.h"

namespace holdfast {

class Buffer;
inline constexpr size_t kLedgerBytes = 4096;  // smaller buffers are not listed

/// A line of the ledger; it is in the list while it exists.
class HOLDFAST_API LedgerEntry {
 public:
  LedgerEntry(const Buffer* buffer, size_t bytes, Where born, DType dtype, Shape shape);
  ~LedgerEntry();
  LedgerEntry(const LedgerEntry&) = delete;

  const Buffer* const buffer;
  const size_t bytes;
  const Where born;
  const DType dtype;
  const Shape shape;

 private:
  friend struct Ledger;
  LedgerEntry *next_ = nullptr, *before_ = nullptr;
};

struct LedgerLine {
  const void* buffer;  // identity only
  size_t bytes;
  Where born;
  DType dtype;
  Shape shape;
};
/// The `n` largest live buffers, largest first, oldest first among equals.
HOLDFAST_API std::vector<LedgerLine> largest_live(size_t n);

}  // namespace holdfast
