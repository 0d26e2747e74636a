#include "holdfast/base/columns.h"

#include <algorithm>
#include <cstdint>

namespace holdfast {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr int kTab = 4;

struct Decoded {
  uint32_t point = 0;
  size_t length = 1;
  bool valid = false;
};

// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
Decoded decode(std::string_view s) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  size_t n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || s.size() < n) return {};
  uint32_t point = lead & (0x7F >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    point = point << 6 | (byte(i) & 0x3F);
  }
  static constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < kLeast[n] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return {};
  return {point, n, true};
}

struct Range {
  uint32_t first, last;
};

template <size_t N>
bool in(const Range (&ranges)[N], uint32_t point) {
  return std::any_of(ranges, ranges + N,
                     [&](Range r) { return r.first <= point && point <= r.last; });
}

// The common part of Unicode's combining and wide classes: what appears in names and comments.
constexpr Range kCombining[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},
                                {0x064B, 0x065F}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},
                                {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
                                {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                           {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                           {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                           {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
// Characters that reorder or end a line when printed.
constexpr Range kUnprintable[] = {
    {0x00, 0x1F}, {0x7F, 0x9F}, {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}};

}  // namespace

std::vector<Cell> cells(std::string_view s) {
  std::vector<Cell> out;
  out.reserve(s.size());
  int column = 0;
  for (size_t at = 0; at < s.size();) {
    Decoded c = decode(s.substr(at));
    Cell cell{{}, 1, at};
    if (c.valid && c.point == '\t') {
      cell.width = kTab - column % kTab;
      cell.text.assign(static_cast<size_t>(cell.width), ' ');
    } else if (c.valid && (c.point == '\n' || c.point == '\r')) {
      cell.text = " ";
    } else if (!c.valid || in(kUnprintable, c.point)) {
      cell.text = kReplacement;
    } else {
      cell.text = s.substr(at, c.length);
      cell.width = in(kCombining, c.point) ? 0 : in(kWide, c.point) ? 2 : 1;
    }
    column += cell.width;
    at += c.length;
    out.push_back(std::move(cell));
  }
  return out;
}

std::string one_line(std::string_view s) {
  std::string out;
  for (const Cell& c : cells(s)) out += c.text;
  return out;
}

std::string valid_utf8(std::string_view s) {
  std::string out;
  while (!s.empty()) {
    Decoded c = decode(s);
    out += c.valid ? s.substr(0, c.length) : kReplacement;
    s.remove_prefix(c.length);
  }
  return out;
}

int columns(std::string_view s) {
  int n = 0;
  for (const Cell& c : cells(s)) n += c.width;
  return n;
}

std::string cut_at_word(std::string_view s, int limit) {
  // Zero-width characters count one here, so that a limit holds in columns and in code points.
  std::vector<Cell> all = cells(s);
  int used = 0;
  size_t fit = 0;
  for (; fit < all.size() && used + std::max(all[fit].width, 1) <= limit; ++fit)
    used += std::max(all[fit].width, 1);
  auto join = [&](size_t n) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += all[i].text;
    return out;
  };
  if (fit == all.size()) return join(fit);

  while (fit > 0 && used >= limit) used -= std::max(all[--fit].width, 1);  // room for the ellipsis
  size_t end = fit;
  while (end > 0 && all[end].text != " ") --end;
  if (end < fit / 2) end = fit;  // one very long word: cut inside it
  size_t ticks = 0, last_tick = 0;
  for (size_t i = 0; i < end; ++i)
    if (all[i].text == "`") ++ticks, last_tick = i;
  bool open = ticks % 2 == 1;
  if (open && last_tick > fit / 2) end = last_tick, open = false;
  if (open && end == fit && end > 0) --end;  // room for the closing tick
  while (end > 0 && all[end - 1].text == " ") --end;
  return join(end) + "…" + (open ? "`" : "");
}

}  // namespace holdfast
