// Numbers as texts.
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/strings.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct AsStringAttrs {
  Attr<int64_t> precision;
  Attr<bool> scientific;
  Attr<bool> shortest;
  Attr<int64_t> width;
  Attr<std::string> fill;
};

void infer_as_string(Infer& s) {
  auto a = s.attrs<AsStringAttrs>();
  bool whole = is_integer(s.dtype()) || is_bool(s.dtype());
  if (a.scientific() && a.shortest())
    s.bad_value("scientific", "True", "False where `shortest` is True");
  if (whole && (a.precision() > -1 || a.scientific() || a.shortest()))
    s.bad_value("precision, scientific or shortest", cat("one of them for ", name(s.dtype())),
                "none of them, which are of floats");
  const std::string& fill = a.fill();
  if (fill.size() > 1 ||
      (fill.size() == 1 && std::string_view(" 0-+").find(fill[0]) == std::string_view::npos))
    s.bad_value("fill", cat("\"", fill, "\""), "\"\", \" \", \"0\", \"-\" or \"+\"");
  // What is longer is no number any more, and takes memory that nobody asked for.
  if (a.precision() > 1000 || a.width() > 1000)
    s.bad_value("precision or width", cat(std::max(a.precision(), a.width())), "1000 at most");
  s.output(string, s.shape());
}

template <class... T>
std::string printed(const std::string& format, T... values) {
  int n = std::snprintf(nullptr, 0, format.c_str(), values...);
  std::string out(static_cast<size_t>(std::max(n, 0)) + 1, '\0');
  std::snprintf(out.data(), out.size(), format.c_str(), values...);
  out.pop_back();
  return out;
}

// A text as printf's %s writes it: filled up with blanks. Only beside a width does `precision` say
// how much of the text there is.
std::string padded(const std::string& text, int64_t width, int64_t precision, bool left) {
  if (width < 1) return text;
  std::string out = precision < 0 ? text : text.substr(0, static_cast<size_t>(precision));
  if (auto want = static_cast<size_t>(width); out.size() < want)
    out.insert(left ? out.size() : 0, want - out.size(), ' ');
  return out;
}

Status run_as_string(Call& c) {
  auto a = c.attrs<AsStringAttrs>();
  std::string flags = cat("%", a.fill(), a.width() > -1 ? cat(a.width()) : "");
  std::string digits = cat(a.precision() > -1 ? cat(".", a.precision()) : "", a.scientific() ? "e"
                                                                              : a.shortest() ? "g"
                                                                                             : "f");
  auto* to = c.out().mutable_raw<std::string>();
  int64_t n = c.in().size();
  if (c.in().dtype() == DType::kString) {
    for (int64_t i = 0; i < n; ++i)
      to[i] = padded(c.in().raw<std::string>()[i], a.width(), a.precision(), a.fill() == "-");
    return {};
  }
  visit_plain(c.in().dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = c.in().raw<T>();
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        to[i] = from[i] ? "true" : "false";
      } else if constexpr (is_complex_v<T>) {
        to[i] = printed(cat("(", flags, digits, ",", flags, digits, ")"),
                        static_cast<double>(from[i].real()), static_cast<double>(from[i].imag()));
      } else if constexpr (std::is_unsigned_v<T>) {
        to[i] = printed(flags + PRIu64, static_cast<uint64_t>(from[i]));
      } else if constexpr (std::is_integral_v<T>) {
        to[i] = printed(flags + PRId64, static_cast<int64_t>(from[i]));
      } else {
        to[i] = printed(flags + digits, static_cast<double>(static_cast<float_of<T>>(from[i])));
      }
    }
  });
  return {};
}

const Op op =
    OP(AsString, &strings::as_string)
        .args("input")
        .options<&strings::AsStringOptions::precision, &strings::AsStringOptions::scientific,
                 &strings::AsStringOptions::shortest, &strings::AsStringOptions::width,
                 &strings::AsStringOptions::fill>("precision, scientific, shortest, width, fill")
        .python("strings.as_string, as_string")
        .doc("Numbers as texts.")
        .inputs("input")
        .dtypes(kAll)
        .attr("precision", -1)
        .attr("scientific", false)
        .attr("shortest", false)
        .attr("width", -1)
        .attr("fill", "")
        .attrs<&AsStringAttrs::precision, &AsStringAttrs::scientific, &AsStringAttrs::shortest,
               &AsStringAttrs::width, &AsStringAttrs::fill>()
        .infer(infer_as_string)
        .kernel("reference", run_as_string)
        .on_host()
        .no_gradient()
        .samples("ints(3, low=-5, high=5, dtype='int32')");

}  // namespace

Tensor strings::as_string(const In& input, const AsStringOptions& o) {
  return op({input}, {o.precision, o.scientific, o.shortest, o.width, o.fill});
}

}  // namespace holdfast
