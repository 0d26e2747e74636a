// Where the values between the steps of a plan lie in one block of memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/base/where.h"

namespace holdfast {

/// Memory that is needed from one step to another, both included.
struct Span {
  int64_t bytes = 0;
  int first = 0, last = 0;
};

/// An offset for each span, so that no two overlap while both are needed.
struct Placement {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};

/// The largest first, each in the smallest gap that holds it. Offsets are multiples of a cache
/// line.
HOLDFAST_API Placement place(const std::vector<Span>& spans);

/// One block of a plan's memory, for people.
struct PlannedBuffer {
  Span span;
  int64_t offset = 0;
  std::string value;     // "float32[128,512]"
  std::string op;        // what fills it first
  Where born = nullptr;  // the user's line
  int shared = 0;        // further values that take its place in turn
  std::string device;    // whose memory it is; empty for the first CPU's
};

/// What a plan holds while it runs.
struct HOLDFAST_API MemoryReport {
  int64_t arena = 0;     // bytes of the one block, or of all of them
  int blocks = 1;        // one for each device
  int64_t separate = 0;  // bytes of all the values in it, had each its own
  int64_t results = 0;   // bytes of values that leave the plan, as far as they are known
  int64_t most_live =
      0;  // bytes that are needed at once at the worst step: no placement can do with less
  int steps = 0;
  std::vector<PlannedBuffer> buffers;  // by device, then by offset
  std::string text() const;
};

}  // namespace holdfast
