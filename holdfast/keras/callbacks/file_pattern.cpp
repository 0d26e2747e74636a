#include "holdfast/keras/callbacks/file_pattern.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/name_list.h"

namespace holdfast::keras {
namespace {

// [[fill]align][sign][0][width][,][.precision][type]
struct Format {
  char fill = ' ', align = 0, sign = '-', type = 0;
  bool commas = false;
  int width = 0, precision = -1;
};

bool is_align(char c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

int digits(std::string_view& s) {
  int out = 0;
  while (!s.empty() && s[0] >= '0' && s[0] <= '9' && out < 1000) {
    out = out * 10 + (s[0] - '0');
    s.remove_prefix(1);
  }
  return out;
}

bool parse(std::string_view s, Format& out) {
  if (s.size() > 1 && is_align(s[1])) {
    out.fill = s[0], out.align = s[1];
    s.remove_prefix(2);
  } else if (!s.empty() && is_align(s[0])) {
    out.align = s[0];
    s.remove_prefix(1);
  }
  if (!s.empty() && (s[0] == '+' || s[0] == '-' || s[0] == ' ')) {
    out.sign = s[0];
    s.remove_prefix(1);
  }
  if (!s.empty() && s[0] == '0') {
    if (!out.align) out.fill = '0', out.align = '=';
    s.remove_prefix(1);
  }
  out.width = digits(s);
  if (!s.empty() && s[0] == ',') {
    out.commas = true;
    s.remove_prefix(1);
  }
  if (!s.empty() && s[0] == '.') {
    s.remove_prefix(1);
    if (s.empty() || s[0] < '0' || s[0] > '9') return false;
    out.precision = std::min(100, digits(s));
  }
  if (!s.empty()) {
    out.type = s[0];
    s.remove_prefix(1);
  }
  return s.empty() && (!out.type || std::string_view("deEfFgG%n").find(out.type) != s.npos);
}

// The shortest text that reads back as the same number, as Python writes it: "0.5", "1e-07".
std::string shortest(double v) {
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr;
  std::string text(buffer, end);
  size_t e = text.find('e');
  int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) return text;
  end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::fixed).ptr;
  text.assign(buffer, end);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

// A number without its sign.
std::string plain(double v, bool integer, const Format& f) {
  if (!std::isfinite(v)) return std::isnan(v) ? "nan" : "inf";
  char buffer[512];
  char type = f.type == 'n' ? 'g' : f.type;
  if (integer && (!type || type == 'd')) {
    std::snprintf(buffer, sizeof buffer, "%.0f", v);
    return buffer;
  }
  if (!type && f.precision < 0) return shortest(v);
  int precision = f.precision < 0 ? 6 : f.precision;
  if (type == '%') {
    std::snprintf(buffer, sizeof buffer, "%.*f%%", precision, v * 100);
    return buffer;
  }
  const char form[] = {'%', '.', '*', type ? type : 'g', 0};
  std::snprintf(buffer, sizeof buffer, form, precision, v);
  return buffer;
}

void put_commas(std::string& text) {
  size_t whole = std::min(text.find_first_not_of("0123456789"), text.size());
  for (size_t i = whole; i > 3; i -= 3) text.insert(i - 3, ",");
}

std::string formatted(const FieldValue& v, const Format& f) {
  std::string text = plain(std::fabs(v.number), v.integer, f);
  if (f.commas) put_commas(text);
  bool negative = std::signbit(v.number) && !std::isnan(v.number);
  std::string sign = negative ? "-" : f.sign == '-' ? "" : std::string(1, f.sign);
  auto missing = static_cast<int>(f.width) - static_cast<int>(sign.size() + text.size());
  if (missing <= 0) return sign + text;
  auto n = static_cast<size_t>(missing);
  switch (f.align) {
    case '<': return sign + text + std::string(n, f.fill);
    case '^': return std::string(n / 2, f.fill) + sign + text + std::string(n - n / 2, f.fill);
    case '=': return sign + std::string(n, f.fill) + text;
    default: return std::string(n, f.fill) + sign + text;
  }
}

}  // namespace

std::string fill_in(const std::string& pattern, const std::vector<FieldValue>& fields,
                    const std::string& what) {
  auto refuse = [&](const std::string& why) {
    std::string known = name_list(fields, [](const FieldValue& f) { return f.name; });
    fail(Code::E1104, cat(what, ": ", why), cat("it is `", pattern, "`, and may use ", known));
  };
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if ((c == '{' || c == '}') && i + 1 < pattern.size() && pattern[i + 1] == c) {
      out += c;
      ++i;
      continue;
    }
    if (c == '}') refuse("a `}` stands alone");
    if (c != '{') {
      out += c;
      continue;
    }
    size_t end = pattern.find('}', i);
    if (end == std::string::npos) refuse("a `{` is not closed");
    std::string_view field = std::string_view(pattern).substr(i + 1, end - i - 1);
    std::string_view name = field.substr(0, field.find(':'));
    std::string_view spec = name.size() < field.size() ? field.substr(name.size() + 1) : "";
    auto found = std::find_if(fields.begin(), fields.end(),
                              [&](const FieldValue& f) { return f.name == name; });
    if (found == fields.end()) refuse(cat("there is no number `", name, "`"));
    Format format;
    if (!parse(spec, format)) refuse(cat("`", spec, "` is no format of a number"));
    if (format.type == 'd' && !found->integer) refuse(cat("`", name, "` is no integer"));
    if (found->integer && !format.type && format.precision >= 0)
      refuse(cat("`", name, "` is an integer, which has no precision"));
    out += formatted(*found, format);
    i = end;
  }
  return out;
}

}  // namespace holdfast::keras
