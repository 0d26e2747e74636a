#include "holdfast/exec/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace {

constexpr int64_t kLine = 64;
int64_t aligned(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

std::string size_text(int64_t bytes) {
  if (bytes < 10 << 10) return cat(bytes, " B");
  if (bytes < 10 << 20) return cat(bytes >> 10, " KiB");
  return cat(bytes >> 20, " MiB");
}

std::string padded(std::string s, size_t width) {
  if (s.size() < width) s.insert(0, width - s.size(), ' ');
  return s;
}

}  // namespace

Placement place(const std::vector<Span>& spans) {
  Placement p;
  p.offsets.resize(spans.size(), 0);
  std::vector<size_t> order(spans.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return spans[a].bytes > spans[b].bytes; });
  std::vector<size_t> by_offset;  // those that have a place
  for (size_t i : order) {
    const Span& s = spans[i];
    int64_t need = aligned(s.bytes), free = 0, best = -1, gap = 0;
    for (size_t k : by_offset) {
      const Span& other = spans[k];
      if (other.last < s.first || other.first > s.last) continue;
      if (int64_t room = p.offsets[k] - free; room >= need && (best < 0 || room < gap)) {
        best = free;
        gap = room;
      }
      free = std::max(free, p.offsets[k] + aligned(other.bytes));
    }
    p.offsets[i] = best < 0 ? free : best;
    p.bytes = std::max(p.bytes, p.offsets[i] + need);
    auto at = std::upper_bound(by_offset.begin(), by_offset.end(), i,
                               [&](size_t a, size_t b) { return p.offsets[a] < p.offsets[b]; });
    by_offset.insert(at, i);
  }
  return p;
}

std::string MemoryReport::text() const {
  std::string out = cat(
      "memory plan: ", size_text(arena), " in ", blocks == 1 ? "one block" : cat(blocks, " blocks"),
      " for ", buffers.size(), " buffers; apart they would take ", size_text(separate), "; ",
      size_text(most_live), " are needed at once; results ", size_text(results), "\n");
  out += cat(padded("offset", 12), padded("bytes", 12), padded("steps", 12), "  value\n");
  for (const PlannedBuffer& b : buffers) {
    Loc at = locate(b.born);
    out += cat(padded(cat(b.offset), 12), padded(cat(b.span.bytes), 12),
               padded(cat(b.span.first, "-", b.span.last), 12), "  ", b.value, " ", b.op);
    if (!b.device.empty()) out += cat(" on ", b.device);
    if (!at.file.empty()) out += cat("  ", short_path(at.file), ":", at.line);
    if (b.shared) out += cat("  (and ", b.shared, " after it, in place)");
    out += "\n";
  }
  return out;
}

}  // namespace holdfast
