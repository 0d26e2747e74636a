#include "holdfast/tensor/live.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "holdfast/base/text.h"

namespace holdfast {

std::vector<LiveTensors> live_tensors(GroupBy by) {
  std::vector<LiveTensors> out;
  std::map<Where, Loc> places;  // one line is asked for once
  std::map<std::pair<std::string, int>, size_t> lines;
  for (const LedgerLine& l : largest_live(SIZE_MAX)) {
    auto place = places.find(l.born);
    if (place == places.end()) place = places.emplace(l.born, locate(l.born)).first;
    const Loc& at = place->second;
    if (by == GroupBy::kLine) {
      auto [it, fresh] = lines.emplace(std::pair(at.file, at.line), out.size());
      if (!fresh) {
        LiveTensors& group = out[it->second];
        group.bytes += l.bytes;
        ++group.count;
        group.alike = group.alike && group.dtype == l.dtype && group.shape == l.shape;
        continue;
      }
    }
    out.push_back({l.bytes, 1, at, l.dtype, l.shape, true});
  }
  std::stable_sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.bytes > b.bytes; });
  return out;
}

std::string live_text(const std::vector<LiveTensors>& all) {
  size_t bytes = 0;
  int64_t count = 0;
  for (const LiveTensors& t : all) {
    bytes += t.bytes;
    count += t.count;
  }
  std::string out =
      cat(bytes, " bytes in ", count, " live buffers of ", kLedgerBytes, " bytes or more");
  for (const LiveTensors& t : all) {
    out += cat("\n  ", t.bytes, " bytes  ", t.count, " x ", t.alike ? "" : "up to ", name(t.dtype),
               t.shape.text(), "  ");
    if (t.line.file.empty())
      out += "by no line of the program";
    else
      out += cat(short_path(t.line.file), ":", t.line.line, "  ",
                 t.line.source.substr(
                     std::min(t.line.source.size(), t.line.source.find_first_not_of(" \t"))));
  }
  return out;
}

}  // namespace holdfast
