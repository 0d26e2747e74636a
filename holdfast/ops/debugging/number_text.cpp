#include "holdfast/ops/debugging/number_text.h"

#include <charconv>
#include <cmath>

namespace holdfast {
namespace {

template <class... Form>
std::string chars(double v, Form... form) {
  char buf[400];  // the largest double in fixed form has 309 digits before the point
  auto r = std::to_chars(buf, buf + sizeof buf, v, form...);
  return std::string(buf, r.ptr);
}

// From "-1.25e+02".
Decimal parsed(const std::string& text) {
  Decimal d;
  d.negative = text[0] == '-';
  d.digits.clear();
  size_t e = text.find('e');
  for (char c : text.substr(0, e))
    if (c >= '0' && c <= '9') d.digits += c;
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  d.power = std::stoi(text.substr(e + 1));
  return d;
}

template <class T>
Decimal shortest_of_16_bits(T v) {
  auto wide = static_cast<float>(v);
  for (int digits = 0; digits < 8; ++digits) {
    std::string text = scientific(wide, digits);
    float back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    if (T(back).bits == v.bits) return parsed(text);
  }
  return shortest(wide);
}

}  // namespace

std::string Decimal::positional() const {
  std::string out = negative ? "-" : "";
  auto count = static_cast<int>(digits.size());
  if (power < 0) return out + "0." + std::string(static_cast<size_t>(-power - 1), '0') + digits;
  if (count <= power + 1)
    return out + digits + std::string(static_cast<size_t>(power + 1 - count), '0') + ".";
  auto whole = static_cast<size_t>(power + 1);
  return out + digits.substr(0, whole) + "." + digits.substr(whole);
}

Decimal shortest(double v) { return parsed(chars(v, std::chars_format::scientific)); }

Decimal shortest(float v) {
  char buf[64];
  auto r = std::to_chars(buf, buf + sizeof buf, v, std::chars_format::scientific);
  return parsed(std::string(buf, r.ptr));
}

Decimal shortest(half v) { return shortest_of_16_bits(v); }
Decimal shortest(bfloat v) { return shortest_of_16_bits(v); }

std::string general(double v, int digits) { return chars(v, std::chars_format::general, digits); }
std::string scientific(double v, int digits) {
  return chars(v, std::chars_format::scientific, digits);
}
std::string fixed_point(double v, int digits) { return chars(v, std::chars_format::fixed, digits); }

std::string not_finite(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  return "";
}

}  // namespace holdfast
