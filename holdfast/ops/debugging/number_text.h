// Numbers in digits, the same in every locale.
#pragma once

#include <string>

#include "holdfast/tensor/float16.h"

namespace holdfast {

/// The fewest digits that tell a float from its neighbours: d.dd times ten to the power.
struct Decimal {
  bool negative = false;
  std::string digits = "0";
  int power = 0;

  /// "120." or "0.0012": no zeros after the last digit.
  std::string positional() const;
};
Decimal shortest(double v);
Decimal shortest(float v);
Decimal shortest(half v);
Decimal shortest(bfloat v);

/// As C's %.*g and %.*e write it.
std::string general(double v, int digits);
std::string scientific(double v, int digits);
std::string fixed_point(double v, int digits);
/// "nan", "inf" or "-inf"; empty for a finite number.
std::string not_finite(double v);

/// As NumPy writes one number: "2.0", "1e-05".
template <class T>
std::string scalar_text(T v) {
  auto wide = static_cast<double>(v);
  if (std::string odd = not_finite(wide); !odd.empty()) return odd;
  Decimal d = shortest(v);
  if (d.power >= 16 || d.power < -4) {
    std::string text = (d.negative ? "-" : "") + d.digits.substr(0, 1);
    if (d.digits.size() > 1) text += "." + d.digits.substr(1);
    int size = d.power < 0 ? -d.power : d.power;
    return text + (d.power < 0 ? "e-" : "e+") + (size < 10 ? "0" : "") + std::to_string(size);
  }
  std::string text = d.positional();
  return text.back() == '.' ? text + "0" : text;
}

}  // namespace holdfast
