// Strings one by one: their lengths, letters, parts and numbers.
#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/strings.h"

namespace holdfast {
namespace {

struct UnitAttrs {
  Attr<std::string> unit;
};
struct NumberAttrs {
  Attr<DType> out_type;
};
struct EncodingAttrs {
  Attr<std::string> encoding;
};

bool in_characters(const std::string& unit) { return unit == "UTF8_CHAR"; }
void check_unit(Infer& s) {
  const std::string& unit = s.attrs<UnitAttrs>().unit();
  if (unit != "BYTE" && unit != "UTF8_CHAR")
    s.bad_value("unit", cat("\"", unit, "\""), "\"BYTE\" or \"UTF8_CHAR\"");
}
// Bytes that go on with a character of UTF-8.
bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

template <class F>
Status each(Call& c, F&& change) {
  const auto* from = c.in().raw<std::string>();
  auto* to = c.out().mutable_raw<std::string>();
  for (int64_t i = 0, n = c.in().size(); i < n; ++i) to[i] = change(from[i]);
  return {};
}

Status run_length(Call& c) {
  bool characters = in_characters(c.attrs<UnitAttrs>().unit());
  const auto* from = c.in().raw<std::string>();
  auto* to = c.out().mutable_raw<int32_t>();
  for (int64_t i = 0, n = c.in().size(); i < n; ++i) {
    auto size = static_cast<int64_t>(from[i].size());
    if (characters) size -= std::count_if(from[i].begin(), from[i].end(), goes_on);
    to[i] = static_cast<int32_t>(std::min<int64_t>(size, std::numeric_limits<int32_t>::max()));
  }
  return {};
}

void infer_letters(Infer& s) {
  const std::string& encoding = s.attrs<EncodingAttrs>().encoding();
  if (!encoding.empty())
    s.bad_value("encoding", cat("\"", encoding, "\""), "\"\": Latin letters alone are changed");
  s.output(string, s.shape());
}
template <char kFirst, char kLast, int kBy>
Status run_letters(Call& c) {
  return each(c, [](std::string text) {
    for (char& l : text)
      if (l >= kFirst && l <= kLast) l = static_cast<char>(l + kBy);
    return text;
  });
}

Status run_strip(Call& c) {
  return each(c, [](std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return std::string(text);
  });
}

void infer_substr(Infer& s) {
  check_unit(s);
  Shape out = s.shape();
  for (int i = 1; i < 3; ++i) {
    auto both = broadcast(out, s.shape(i));
    if (!both) s.bad_shape(i, cat("a shape that broadcasts with ", out.text()));
    out = *both;
  }
  s.output(string, out);
}

// Where an operand's element for each element of a broadcast result lies.
std::vector<int64_t> places_in(const Shape& result, const Shape& operand) {
  std::vector<int64_t> places{0};
  int64_t step = 1;
  for (int i = result.rank() - 1, at = operand.rank() - 1; i >= 0; --i, --at) {
    int64_t size = at >= 0 ? operand[at] : 1, by = size == 1 ? 0 : step;
    // The axes behind this one are repeated for each of its positions.
    size_t inner = places.size();
    auto n = static_cast<size_t>(result[i]);
    places.resize(inner * n);
    for (size_t k = 1; k < n; ++k)
      for (size_t j = 0; j < inner; ++j)
        places[k * inner + j] = places[j] + static_cast<int64_t>(k) * by;
    step *= size;
  }
  return places;
}

// Where character `n` begins; the end where there are just so many.
size_t place_of(std::string_view text, int64_t n) {
  size_t at = 0;
  for (; n > 0 && at < text.size(); --n) do
      ++at;
    while (at < text.size() && goes_on(text[at]));
  return at;
}

template <class I>
Status substr_of(Call& c) {
  bool characters = in_characters(c.attrs<UnitAttrs>().unit());
  const Tensor &in = c.in(0), &pos = c.in(1), &len = c.in(2);
  const auto* from = in.raw<std::string>();
  Tensor& out = c.out();
  auto* to = out.mutable_raw<std::string>();
  if (!out.size()) return {};
  auto of = [&](const Tensor& t) { return places_in(out.shape(), t.shape()); };
  std::vector<int64_t> texts = of(in), begins = of(pos), counts = of(len);
  for (int64_t i = 0, n = out.size(); i < n; ++i) {
    auto at = static_cast<size_t>(i);
    std::string_view text = from[texts[at]];
    int64_t size = static_cast<int64_t>(text.size());
    if (characters) size -= std::count_if(text.begin(), text.end(), goes_on);
    int64_t begin = pos.raw<I>()[begins[at]], count = len.raw<I>()[counts[at]];
    int64_t first = begin < 0 ? begin + size : begin;
    if (first < 0 || first > size)
      return {Code::E1103, cat("Substr: `pos` is ", begin, ", and string ", texts[at], " has ",
                               size, characters ? " characters" : " bytes")};
    count = count < 0 ? size - first : std::min(count, size - first);
    auto start = static_cast<size_t>(first), end = static_cast<size_t>(first + count);
    if (characters) {
      start = place_of(text, first);
      end = start + place_of(text.substr(start), count);
    }
    to[i] = text.substr(start, end - start);
  }
  return {};
}
Status run_substr(Call& c) {
  return c.in(1).dtype() == int64 ? substr_of<int64_t>(c) : substr_of<int32_t>(c);
}

void infer_number(Infer& s) {
  DType to = s.attrs<NumberAttrs>().out_type();
  if (to != float32 && to != float64 && to != int32 && to != int64)
    s.bad_value("out_type", std::string(name(to)), "float32, float64, int32 or int64");
  s.output(to, s.shape());
}

template <class T>
Status numbers_of(Call& c) {
  const auto* from = c.in().raw<std::string>();
  T* to = c.out().mutable_raw<T>();
  for (int64_t i = 0, n = c.in().size(); i < n; ++i) {
    std::string_view text = from[i];
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to[i]);
    bool good = end == text.data() + text.size() && !text.empty();
    if (std::is_floating_point_v<T> && good && error == std::errc::result_out_of_range) {
      // What is too large is infinite, what is too small is zero.
      bool small = text.find("e-") != text.npos || text.find("E-") != text.npos;
      T size = small ? T(0) : std::numeric_limits<T>::infinity();
      to[i] = text.front() == '-' ? -size : size;
      error = {};
    }
    if (!good || error != std::errc())
      return {Code::E1103, cat("StringToNumber: string ", i, " is \"", from[i].substr(0, 40),
                               "\", which is no ", name(c.out().dtype()))};
  }
  return {};
}
Status run_number(Call& c) {
  switch (c.out_dtype()) {
    case DType::kFloat64: return numbers_of<double>(c);
    case DType::kInt32: return numbers_of<int32_t>(c);
    case DType::kInt64: return numbers_of<int64_t>(c);
    default: return numbers_of<float>(c);
  }
}

const Op length_op = OP(StringLength, &strings::length)
                         .args("input")
                         .options<&strings::LengthOptions::unit>("unit")
                         .python("strings.length")
                         .doc("How long strings are.")
                         .inputs("input")
                         .dtypes(kStrings)
                         .attr("unit", "BYTE")
                         .attrs<&UnitAttrs::unit>()
                         .infer(+[](Infer& s) {
                           check_unit(s);
                           s.output(int32, s.shape());
                         })
                         .kernel("reference", run_length)
                         .on_host()
                         .no_gradient()
                         .samples("strings(3)", "strings(2, 2)")
                         .reference("np.vectorize(len, otypes=['int32'])(input)");
const Op lower_op = OP(StringLower, &strings::lower)
                        .args("input")
                        .options<&strings::LettersOptions::encoding>("encoding")
                        .python("strings.lower")
                        .doc("Latin letters made small.")
                        .inputs("input")
                        .dtypes(kStrings)
                        .attr("encoding", "")
                        .attrs<&EncodingAttrs::encoding>()
                        .infer(infer_letters)
                        .kernel("reference", run_letters<'A', 'Z', 32>)
                        .on_host()
                        .no_gradient()
                        .samples("strings(3)")
                        .reference("np.vectorize(bytes.lower, otypes=[object])(input)");
const Op upper_op = OP(StringUpper, &strings::upper)
                        .args("input")
                        .options<&strings::LettersOptions::encoding>("encoding")
                        .python("strings.upper")
                        .doc("Latin letters made large.")
                        .inputs("input")
                        .dtypes(kStrings)
                        .attr("encoding", "")
                        .attrs<&EncodingAttrs::encoding>()
                        .infer(infer_letters)
                        .kernel("reference", run_letters<'a', 'z', -32>)
                        .on_host()
                        .no_gradient()
                        .samples("strings(3)")
                        .reference("np.vectorize(bytes.upper, otypes=[object])(input)");
const Op strip_op = OP(StringStrip, &strings::strip)
                        .args("input")
                        .python("strings.strip")
                        .doc("Strings without white space at both ends.")
                        .dtypes(kStrings)
                        .same_as_input()
                        .kernel("reference", run_strip)
                        .on_host()
                        .no_gradient()
                        .samples("strings(3)")
                        .reference("np.vectorize(bytes.strip, otypes=[object])(input)");
const Op substr_op = OP(Substr, &strings::substr)
                         .args("input: S, pos: T, len: T")
                         .options<&strings::SubstrOptions::unit>("unit")
                         .python("strings.substr")
                         .doc("Parts of strings.")
                         .inputs("input: S, pos: T, len: T")
                         .dtypes(kStrings, "S")
                         .dtypes(kIndices, "T")
                         .attr("unit", "BYTE")
                         .attrs<&UnitAttrs::unit>()
                         .infer(infer_substr)
                         .kernel("reference", run_substr)
                         .on_host()
                         .no_gradient();
const Op number_op = OP(StringToNumber, &strings::to_number)
                         .args("input")
                         .options<&strings::ToNumberOptions::out_type>("out_type")
                         .python("strings.to_number")
                         .doc("The numbers that strings are written as.")
                         .inputs("string_tensor")
                         .dtypes(kStrings)
                         .attr("out_type", float32)
                         .attrs<&NumberAttrs::out_type>()
                         .infer(infer_number)
                         .kernel("reference", run_number)
                         .on_host()
                         .no_gradient();

}  // namespace

Tensor strings::length(const In& input, const LengthOptions& o) {
  return length_op({input}, {o.unit});
}
Tensor strings::lower(const In& input, const LettersOptions& o) {
  return lower_op({input}, {o.encoding});
}
Tensor strings::upper(const In& input, const LettersOptions& o) {
  return upper_op({input}, {o.encoding});
}
Tensor strings::strip(const In& input) { return strip_op(input); }
Tensor strings::substr(const In& input, const In& pos, const In& len, const SubstrOptions& o) {
  return substr_op({input, pos, len}, {o.unit});
}
Tensor strings::to_number(const In& input, const ToNumberOptions& o) {
  return number_op({input}, {o.out_type});
}

}  // namespace holdfast
