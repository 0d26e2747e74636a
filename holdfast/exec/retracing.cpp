#include "holdfast/exec/retracing.h"

#include <algorithm>
#include <cstdio>

#include "holdfast/base/text.h"

namespace holdfast {
namespace {

constexpr size_t kMostKept = 128;

}  // namespace

std::string Retrace::text() const {
  char cost[32];
  std::snprintf(cost, sizeof cost, "  (%.1f ms)", milliseconds);
  std::string out = "first call";
  if (kind != Kind::kFirst) out = cat(part, ": was ", was, ", now ", now);
  for (size_t i = 0; i < relaxed.size(); ++i) out += cat(i ? ", " : "; relaxed ", relaxed[i]);
  for (size_t i = 0; i < frozen.size(); ++i) out += cat(i ? ", " : "; frozen ", frozen[i]);
  return out + cost;
}

std::vector<Dimension> TraceHistory::relax(const std::vector<Type>& last, std::vector<Type>& now) {
  std::vector<Dimension> opened;
  for (size_t t = 0; t < now.size() && t < last.size(); ++t) {
    const Shape& known = last[t].shape;
    if (!known.has_rank() || !now[t].shape.has_rank() || known.rank() != now[t].shape.rank())
      continue;
    Dims dims = now[t].shape.dims();
    for (int axis = 0; axis < known.rank(); ++axis) {
      int64_t& size = dims[static_cast<size_t>(axis)];
      bool open = known[axis] == kUnknown;
      int& changes = changes_[{t, axis}];
      if (!open && known[axis] != size) ++changes;
      if (!open && changes < misses_) continue;
      size = kUnknown;
      if (!open) opened.push_back({t, axis});
    }
    now[t].shape = Shape(dims);
  }
  return opened;
}

void TraceHistory::note(Retrace trace) {
  ++count_;
  milliseconds_ += trace.milliseconds;
  traces_.push_back(std::move(trace));
  if (traces_.size() > kMostKept) traces_.pop_front();
}

std::string TraceHistory::report() const {
  size_t earlier = count_ - traces_.size();
  std::string out = cat(name_, ": ", count_, count_ == 1 ? " trace" : " traces");
  if (earlier) out += cat("\n  ... ", earlier, " earlier ones");
  for (const Retrace& t : traces_) out += cat("\n  ", ++earlier, ". ", t.text());
  return out;
}

bool serves(const std::vector<Type>& traced, std::span<const Tensor> arguments) {
  return std::equal(traced.begin(), traced.end(), arguments.begin(), arguments.end(),
                    [](const Type& t, const Tensor& given) { return serves(t, *given.rep()); });
}

}  // namespace holdfast
