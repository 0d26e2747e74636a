#include "holdfast/ops/debugging/tensor_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "holdfast/base/columns.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/ops/debugging/number_text.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

constexpr int64_t kManyElements = 1000;  // from where NumPy leaves out the middle
constexpr int64_t kEnds = 3;
constexpr int kFraction = 8;  // digits after the point that NumPy shows in an array

void append_hex(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

// As C writes a text; bytes that are not ASCII stay, whether they are letters or none.
std::string escaped(std::string_view s) {
  std::string out;
  for (char c : s) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c == '"' || c == '\'' || c == '\\')
      out += cat('\\', c);
    else if (byte < 32 || byte == 127)
      out += cat('\\', byte / 64, byte / 8 % 8, byte % 8);
    else
      out += c;
  }
  return out;
}

// As Python writes bytes.
std::string bytes_text(const std::string& s) {
  char quote = s.find('\'') != std::string::npos && s.find('"') == std::string::npos ? '"' : '\'';
  std::string out = cat("b", quote);
  for (char c : s) {
    if (c == '\\' || c == quote)
      out += cat('\\', c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c >= 32 && c < 127)
      out += c;
    else
      append_hex(out, c);
  }
  return out + quote;
}

// Few digits where they say it exactly, else enough to tell it from its neighbours.
template <class T>
std::string few_digits(T v, int digits, int all) {
  if (std::string odd = not_finite(v); !odd.empty()) return odd;
  std::string text = general(v, digits);
  T back = 0;
  std::from_chars(text.data(), text.data() + text.size(), back);
  return back == v ? text : general(v, all);
}

std::string printed_element(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::kString) return cat('"', escaped(t.raw<std::string>()[i]), '"');
  std::string out;
  visit_plain(t.dtype(), [&]<class T>(T) {
    T v = t.raw<T>()[i];
    if constexpr (std::is_same_v<T, bool>)
      out = v ? "1" : "0";
    else if constexpr (std::is_integral_v<T>)
      out = std::to_string(v);
    else if constexpr (is_complex_v<T>) {
      using Part = typename T::value_type;
      out = cat("(", few_digits<Part>(v.real(), 6, 9), ",", few_digits<Part>(v.imag(), 6, 9), ")");
    } else if constexpr (std::is_same_v<T, double>) {
      out = few_digits<double>(v, 15, 17);
    } else {
      out = few_digits<float>(static_cast<float>(v), 6, 9);
    }
  });
  return out;
}

// "1.5", or "2" where NumPy would write "2.0" for the number alone.
template <class T>
std::string part_text(T v) {
  std::string s = scalar_text(v);
  return s.size() > 2 && s.ends_with(".0") ? s.substr(0, s.size() - 2) : s;
}

std::string scalar_at(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::kString) return bytes_text(t.raw<std::string>()[i]);
  std::string out;
  visit_plain(t.dtype(), [&]<class T>(T) {
    T v = t.raw<T>()[i];
    if constexpr (std::is_same_v<T, bool>)
      out = v ? "True" : "False";
    else if constexpr (std::is_integral_v<T>)
      out = std::to_string(v);
    else if constexpr (is_complex_v<T>) {
      std::string imag = part_text(v.imag());
      bool bare = v.real() == 0 && !std::signbit(v.real());
      out =
          bare ? imag + "j" : cat("(", part_text(v.real()), imag[0] == '-' ? "" : "+", imag, "j)");
    } else {
      out = scalar_text(v);
    }
  });
  return out;
}

// The places of the elements that are shown, and the brackets around them.
class Walk {
 public:
  Walk(const Shape& shape, int64_t ends) : shape_(shape), ends_(ends) {}

  std::string text(const std::function<std::string(int64_t)>& element, int axis = 0,
                   int64_t first = 0) const {
    if (axis == shape_.rank()) return element(first);
    int64_t count = shape_[axis], step = 1;
    for (int k = axis + 1; k < shape_.rank(); ++k) step *= shape_[k];
    bool inner = axis + 1 == shape_.rank(), cut = ends_ >= 0 && count > 2 * ends_;
    auto lines = static_cast<size_t>(shape_.rank() - axis - 1),
         indent = static_cast<size_t>(axis + 1);
    std::string gap = inner ? " " : std::string(lines, '\n') + std::string(indent, ' ');
    std::string out = "[";
    for (int64_t i = 0; i < count; ++i) {
      if (out.size() > 1) out += gap;
      if (cut && i == ends_) {
        out += "...";
        if (!ends_) break;
        i = count - ends_ - 1;
        continue;
      }
      out += text(element, axis + 1, first + i * step);
    }
    return out + "]";
  }
  std::vector<int64_t> places() const {
    std::vector<int64_t> out;
    text([&](int64_t i) {
      out.push_back(i);
      return std::string();
    });
    return out;
  }

 private:
  const Shape& shape_;
  int64_t ends_;
};

Tensor on_cpu(const Tensor& t) {
  return t.device() && t.device()->kind() != DeviceKind::kCpu ? copy_to(t, cpu()) : t;
}

std::string right(const std::string& s, size_t width) {
  return std::string(width > s.size() ? width - s.size() : 0, ' ') + s;
}

// Floats of one array in columns: the points stand below each other. `plus`: a sign before each.
template <class T>
std::vector<std::string> in_columns(const std::vector<T>& values, bool plus = false) {
  double high = 0, low = INFINITY;
  for (T v : values)
    if (double a = std::fabs(static_cast<double>(v)); std::isfinite(a) && a > 0)
      high = std::max(high, a), low = std::min(low, a);
  bool power = high >= 1e8 || (high > 0 && (low < 1e-4 || high / low > 1000));
  int fraction = 0;
  if (power)
    for (T v : values)
      if (std::isfinite(static_cast<double>(v)))
        fraction = std::max(fraction,
                            std::min(kFraction, static_cast<int>(shortest(v).digits.size()) - 1));
  std::vector<std::string> out;
  size_t left = 0, after = 0,
         odd = 0;  // characters before the point, from it on, and of nan or inf
  for (T v : values) {
    auto wide = static_cast<double>(v);
    std::string s = not_finite(wide);
    if (s.empty() && power) {
      s = scientific(wide, fraction);
      if (!fraction) s.insert(s.find('e'), ".");
    } else if (s.empty()) {
      s = shortest(v).positional();
      if (s.size() - s.find('.') - 1 > kFraction) {
        s = fixed_point(wide, kFraction);
        while (s.back() == '0') s.pop_back();
      }
    }
    if (plus && s[0] != '-') s.insert(0, "+");
    if (size_t point = s.find('.'); point != std::string::npos)
      left = std::max(left, point), after = std::max(after, s.size() - point);
    else
      odd = std::max(odd, s.size());
    out.push_back(std::move(s));
  }
  left = std::max(left, odd > after ? odd - after : 0);
  for (std::string& s : out) {
    size_t point = s.find('.');
    if (point == std::string::npos)
      s = right(s, left + after);
    else
      s = std::string(left - point, ' ') + s + std::string(after - (s.size() - point), ' ');
  }
  return out;
}

// Both parts in columns, the j right after its number.
template <class T>
std::vector<std::string> complex_columns(const std::vector<T>& values) {
  std::vector<typename T::value_type> real, imag;
  for (const T& v : values) real.push_back(v.real()), imag.push_back(v.imag());
  std::vector<std::string> out = in_columns(real), second = in_columns(imag, true);
  for (size_t i = 0; i < out.size(); ++i) {
    second[i].insert(second[i].find_last_not_of(' ') + 1, "j");
    out[i] += second[i];
  }
  return out;
}

}  // namespace

std::string printed_text(const Tensor& given, int64_t summarize) {
  Tensor t = on_cpu(given);
  return Walk(t.shape(), summarize).text([&](int64_t i) { return printed_element(t, i); });
}

std::string element_text(const Tensor& t, int64_t place) { return scalar_at(on_cpu(t), place); }

std::string array_text(const Tensor& given, int64_t ends) {
  Tensor t = on_cpu(given);
  if (t.rank() == 0) return scalar_at(t, 0);
  if (t.size() == 0) return "[]";
  Walk walk(t.shape(), ends < 0 && t.size() > kManyElements ? kEnds : ends);
  std::vector<int64_t> places = walk.places();
  std::vector<std::string> shown;
  visit_plain(t.dtype(), [&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>) {
      std::vector<T> values;
      for (int64_t i : places) values.push_back(t.raw<T>()[i]);
      if constexpr (is_complex_v<T>)
        shown = complex_columns(values);
      else
        shown = in_columns(values);
    }
  });
  if (shown.empty()) {
    for (int64_t i : places) shown.push_back(scalar_at(t, i));
    size_t width = 0;
    if (t.dtype() != DType::kString)
      for (const std::string& s : shown) width = std::max(width, s.size());
    for (std::string& s : shown) s = right(s, width);
  }
  size_t next = 0;
  return walk.text([&](int64_t) { return shown[next++]; });
}

std::string Tensor::text() const {
  return this->defined() && has_value() && rep_->buffer ? array_text(*this)
                                                        : "a tensor without a value";
}

}  // namespace holdfast
