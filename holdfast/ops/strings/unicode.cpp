// Characters of texts: as numbers, as texts of one character, and texts of other encodings.
#include <algorithm>
#include <optional>
#include <utility>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/strings.h"

namespace holdfast {
namespace {

struct DecodeAttrs {
  Attr<std::string> input_encoding;
  Attr<std::string> errors;
  Attr<int64_t> replacement_char;
  Attr<bool> replace_control_characters;
};
struct EncodeAttrs {
  Attr<std::string> errors;
  Attr<std::string> output_encoding;
  Attr<int64_t> replacement_char;
};
struct TranscodeAttrs {
  Attr<std::string> input_encoding;
  Attr<std::string> output_encoding;
  Attr<std::string> errors;
  Attr<int64_t> replacement_char;
  Attr<bool> replace_control_characters;
};

// Of wide characters, the highest byte first; `Low`: the lowest; `Marked`: as the text's mark says.
enum class Encoding : uint8_t {
  kUtf8,
  kUtf16,
  kUtf32,
  kUtf16Low,
  kUtf32Low,
  kUtf16Marked,
  kUtf32Marked,
  kAscii,
  kLatin1,
};

constexpr std::pair<std::string_view, Encoding> kEncodings[] = {
    {"UTF-8", Encoding::kUtf8},         {"UTF-16-BE", Encoding::kUtf16},
    {"UTF-32-BE", Encoding::kUtf32},    {"UTF-16-LE", Encoding::kUtf16Low},
    {"UTF-32-LE", Encoding::kUtf32Low}, {"UTF-16", Encoding::kUtf16Marked},
    {"UTF-32", Encoding::kUtf32Marked}, {"US-ASCII", Encoding::kAscii},
    {"ISO-8859-1", Encoding::kLatin1},
};

// In any case of letters.
std::optional<Encoding> encoding_named(std::string_view name) {
  auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
  for (const auto& [known, encoding] : kEncodings)
    if (std::equal(name.begin(), name.end(), known.begin(), known.end(),
                   [&](char a, char b) { return upper(a) == b; }))
      return encoding;
  return std::nullopt;
}

// How a marked text is to be read, and how many bytes its mark takes; without one the highest byte
// comes first.
std::pair<Encoding, size_t> unmarked(Encoding e, std::string_view text) {
  if (e == Encoding::kUtf16Marked) {
    if (text.starts_with("\xff\xfe")) return {Encoding::kUtf16Low, 2};
    return {Encoding::kUtf16, text.starts_with("\xfe\xff") ? 2 : 0};
  }
  if (e == Encoding::kUtf32Marked) {
    using namespace std::string_view_literals;
    if (text.starts_with("\xff\xfe\0\0"sv)) return {Encoding::kUtf32Low, 4};
    return {Encoding::kUtf32, text.starts_with("\0\0\xfe\xff"sv) ? 4 : 0};
  }
  return {e, 0};
}

constexpr int32_t kNone = -1;  // bytes that are no character
bool is_character(int64_t c) { return c >= 0 && c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff); }
bool is_control(int32_t c) { return c < 0x20; }

/// The next character and how many bytes it takes; kNone where they are none.
struct Next {
  int32_t character;
  size_t bytes;
};

Next next_utf8(std::string_view text) {
  auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = at(0);
  if (first < 0x80) return {first, 1};
  int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4) return {kNone, 1};
  int32_t c = first & (0x3f >> more);
  for (int i = 1; i <= more; ++i) {
    auto k = static_cast<size_t>(i);
    // The first byte behind says more than that it goes on: no character is written too long.
    unsigned char low = 0x80, high = 0xbf;
    if (i == 1 && first == 0xe0) low = 0xa0;
    if (i == 1 && first == 0xed) high = 0x9f;
    if (i == 1 && first == 0xf0) low = 0x90;
    if (i == 1 && first == 0xf4) high = 0x8f;
    if (k >= text.size() || at(k) < low || at(k) > high) return {kNone, k};
    c = (c << 6) | (at(k) & 0x3f);
  }
  return {c, static_cast<size_t>(more) + 1};
}

Next next_wide(std::string_view text, size_t unit, bool low_first) {
  auto read = [&](size_t from) {
    uint32_t v = 0;
    for (size_t i = 0; i < unit; ++i)
      v = v << 8 | static_cast<unsigned char>(text[from + (low_first ? unit - 1 - i : i)]);
    return v;
  };
  if (text.size() < unit) return {kNone, text.size()};
  uint32_t c = read(0);
  if (unit == 2 && c >= 0xd800 && c < 0xdc00 && text.size() >= 4) {
    uint32_t low = read(2);
    if (low >= 0xdc00 && low < 0xe000)
      return {static_cast<int32_t>(0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00)), 4};
  }
  return {is_character(c) ? static_cast<int32_t>(c) : kNone, unit};
}

Next next_character(Encoding e, std::string_view text) {
  switch (e) {
    case Encoding::kUtf8: return next_utf8(text);
    case Encoding::kUtf16:
    case Encoding::kUtf16Low: return next_wide(text, 2, e == Encoding::kUtf16Low);
    case Encoding::kUtf32:
    case Encoding::kUtf32Low: return next_wide(text, 4, e == Encoding::kUtf32Low);
    default: break;
  }
  auto byte = static_cast<unsigned char>(text[0]);
  return {byte < 0x80 || e == Encoding::kLatin1 ? byte : kNone, 1};
}

void append(Encoding e, int32_t c, std::string& out) {
  auto put = [&](int32_t byte) { out += static_cast<char>(byte & 0xff); };
  if (e == Encoding::kUtf32) {
    for (int shift : {24, 16, 8, 0}) put(c >> shift);
  } else if (e == Encoding::kUtf16) {
    if (c >= 0x10000) {
      int32_t high = 0xd800 + ((c - 0x10000) >> 10), low = 0xdc00 + ((c - 0x10000) & 0x3ff);
      put(high >> 8), put(high), put(low >> 8), put(low);
    } else {
      put(c >> 8), put(c);
    }
  } else if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6), put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f)), put(0x80 | (c >> 6 & 0x3f)),
        put(0x80 | (c & 0x3f));
  }
}

enum class Errors : uint8_t { kReplace, kIgnore, kStrict };
Errors errors_named(const std::string& name) {
  return name == "ignore" ? Errors::kIgnore : name == "strict" ? Errors::kStrict : Errors::kReplace;
}

void check_encoding(Infer& s, const char* argument, const std::string& name, bool reads) {
  if (reads && !encoding_named(name)) {
    std::string known;
    for (const auto& [each, _] : kEncodings)
      known += cat(known.empty() ? "\"" : ", \"", each, "\"");
    s.bad_value(argument, cat("\"", name, "\""), "one of " + known);
  }
  if (!reads && name != "UTF-8" && name != "UTF-16-BE" && name != "UTF-32-BE")
    s.bad_value(argument, cat("\"", name, "\""), "\"UTF-8\", \"UTF-16-BE\" or \"UTF-32-BE\"");
}
void check_errors(Infer& s, const std::string& errors, int64_t replacement) {
  if (errors != "replace" && errors != "ignore" && errors != "strict")
    s.bad_value("errors", cat("\"", errors, "\""), "\"replace\", \"ignore\" or \"strict\"");
  if (!is_character(replacement))
    s.bad_value("replacement_char", cat(replacement), "the number of a character of Unicode");
}

/// Calls `take(character, first byte)` for each character of a text.
struct Reading {
  Encoding encoding;
  Errors errors;
  int32_t replacement;
  bool no_controls;
  bool controls_fit = true;  // a control character is replaced, also where errors are refused
  template <class F>
  bool each(std::string_view text, F&& take) const {
    auto [plain, mark] = unmarked(encoding, text);
    for (size_t at = mark; at < text.size();) {
      Next next = next_character(plain, text.substr(at));
      size_t begin = at;
      at += next.bytes;
      if (next.character == kNone) {
        if (errors == Errors::kStrict) return false;
        if (errors == Errors::kReplace) take(replacement, begin);
      } else if (!no_controls || !is_control(next.character)) {
        take(next.character, begin);
      } else if (errors == Errors::kStrict && !controls_fit) {
        return false;
      } else if (errors != Errors::kIgnore) {
        take(replacement, begin);
      }
    }
    return true;
  }
};
Status not_read(const Call& c, int64_t i, const std::string& encoding) {
  return {Code::E1103, cat(c.op.name, ": string ", i, " has bytes that are no ", encoding)};
}

template <bool offsets>
void infer_decode(Infer& s) {
  auto a = s.attrs<DecodeAttrs>();
  check_encoding(s, "input_encoding", a.input_encoding(), true);
  check_errors(s, a.errors(), a.replacement_char());
  int64_t n = s.shape().has_rank() && s.shape().is_full() ? s.shape().size() : kUnknown;
  s.output(int64, Shape{n < 0 ? kUnknown : n + 1});
  s.output(int32, Shape{kUnknown});
  if (offsets) s.output(int64, Shape{kUnknown});
}

template <bool offsets>
Status run_decode(Call& c) {
  auto a = c.attrs<DecodeAttrs>();
  Reading reading{*encoding_named(a.input_encoding()), errors_named(a.errors()),
                  static_cast<int32_t>(a.replacement_char()), a.replace_control_characters()};
  const auto* from = c.in().raw<std::string>();
  int64_t n = c.in().size();
  std::vector<int32_t> characters;
  std::vector<int64_t> starts;
  auto* splits = c.out(0, Shape{n + 1}).mutable_raw<int64_t>();
  splits[0] = 0;
  for (int64_t i = 0; i < n; ++i) {
    bool good = reading.each(from[i], [&](int32_t character, size_t begin) {
      characters.push_back(character);
      if (offsets) starts.push_back(static_cast<int64_t>(begin));
    });
    if (!good) return not_read(c, i, a.input_encoding());
    splits[i + 1] = static_cast<int64_t>(characters.size());
  }
  Shape count{static_cast<int64_t>(characters.size())};
  std::copy(characters.begin(), characters.end(), c.out(1, count).mutable_raw<int32_t>());
  if (offsets) std::copy(starts.begin(), starts.end(), c.out(2, count).mutable_raw<int64_t>());
  return {};
}

void infer_encode(Infer& s) {
  auto a = s.attrs<EncodeAttrs>();
  check_encoding(s, "output_encoding", a.output_encoding(), false);
  check_errors(s, a.errors(), a.replacement_char());
  s.need_rank(0, 1, 1);
  s.need_rank(1, 1, 1);
  bool known = s.shape(1).has_rank() && s.shape(1)[0] >= 0;
  if (known && s.shape(1)[0] == 0) s.bad_shape(1, "one number or more");
  s.output(string, Shape{known ? s.shape(1)[0] - 1 : kUnknown});
}
template <class I>
Status encode(Call& c) {
  auto a = c.attrs<EncodeAttrs>();
  Encoding to = *encoding_named(a.output_encoding());
  Errors errors = errors_named(a.errors());
  const auto* characters = c.in(0).raw<int32_t>();
  const I* splits = c.in(1).raw<I>();
  int64_t rows = c.in(1).size() - 1;
  bool fits = rows >= 0 && splits[0] == 0 && splits[rows] == c.in(0).size();
  for (int64_t i = 0; fits && i < rows; ++i) fits = splits[i] <= splits[i + 1];
  if (!fits)
    return {Code::E1103,
            cat(c.op.name, ": `input_splits` don't fit the ", c.in(0).size(), " characters")};
  auto* out = c.out(0, Shape{rows}).template mutable_raw<std::string>();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = splits[i]; k < splits[i + 1]; ++k) {
      int32_t character = characters[k];
      if (!is_character(character)) {
        if (errors == Errors::kStrict)
          return {Code::E1103, cat(c.op.name, ": ", character, " is no character of Unicode")};
        if (errors == Errors::kIgnore) continue;
        character = static_cast<int32_t>(a.replacement_char());
      }
      append(to, character, out[i]);
    }
  return {};
}
Status run_encode(Call& c) {
  return c.in(1).dtype() == int64 ? encode<int64_t>(c) : encode<int32_t>(c);
}

void infer_transcode(Infer& s) {
  auto a = s.attrs<TranscodeAttrs>();
  check_encoding(s, "input_encoding", a.input_encoding(), true);
  check_encoding(s, "output_encoding", a.output_encoding(), false);
  check_errors(s, a.errors(), a.replacement_char());
  s.output(string, s.shape());
}
Status run_transcode(Call& c) {
  auto a = c.attrs<TranscodeAttrs>();
  Reading reading{*encoding_named(a.input_encoding()), errors_named(a.errors()),
                  static_cast<int32_t>(a.replacement_char()), a.replace_control_characters(),
                  false};
  Encoding to = *encoding_named(a.output_encoding());
  const auto* from = c.in().raw<std::string>();
  auto* out = c.out().mutable_raw<std::string>();
  for (int64_t i = 0, n = c.in().size(); i < n; ++i)
    if (!reading.each(from[i], [&](int32_t character, size_t) { append(to, character, out[i]); }))
      return not_read(c, i, a.input_encoding());
  return {};
}

Builder& decoding(Builder& b) {
  return b.inputs("input")
      .dtypes(kStrings)
      .attr("input_encoding")
      .attr("errors", "replace")
      .attr("replacement_char", 65533)
      .attr("replace_control_characters", false)
      .attrs<&DecodeAttrs::input_encoding, &DecodeAttrs::errors, &DecodeAttrs::replacement_char,
             &DecodeAttrs::replace_control_characters>()
      .on_host()
      .no_gradient();
}
const Op decode_op = decoding(RAW_OP(UnicodeDecode)
                                  .doc("The characters of texts, as numbers of Unicode.")
                                  .outputs("row_splits, char_values"))
                         .infer(infer_decode<false>)
                         .kernel("reference", run_decode<false>);
const Op offsets_op = decoding(RAW_OP(UnicodeDecodeWithOffsets)
                                   .doc("The characters of texts, and where they begin.")
                                   .outputs("row_splits, char_values, char_to_byte_starts"))
                          .infer(infer_decode<true>)
                          .kernel("reference", run_decode<true>);
const Op encode_op = RAW_OP(UnicodeEncode)
                         .doc("Texts of characters, which are numbers of Unicode.")
                         .inputs("input_values: V, input_splits: T")
                         .dtypes(DTypes{int32}, "V")
                         .dtypes(kIndices, "T")
                         .attr("errors", "replace")
                         .attr("output_encoding")
                         .attr("replacement_char", 65533)
                         .attrs<&EncodeAttrs::errors, &EncodeAttrs::output_encoding,
                                &EncodeAttrs::replacement_char>()
                         .infer(infer_encode)
                         .kernel("reference", run_encode)
                         .on_host()
                         .no_gradient();
const Op transcode_op =
    OP(UnicodeTranscode, &strings::unicode_transcode)
        .args("input, input_encoding, output_encoding")
        .options<&strings::TranscodeOptions::errors, &strings::TranscodeOptions::replacement_char,
                 &strings::TranscodeOptions::replace_control_characters>(
            "errors, replacement_char, replace_control_characters")
        .python("strings.unicode_transcode")
        .doc("Texts of another encoding.")
        .inputs("input")
        .dtypes(kStrings)
        .attr("input_encoding")
        .attr("output_encoding")
        .attr("errors", "replace")
        .attr("replacement_char", 65533)
        .attr("replace_control_characters", false)
        .attrs<&TranscodeAttrs::input_encoding, &TranscodeAttrs::output_encoding,
               &TranscodeAttrs::errors, &TranscodeAttrs::replacement_char,
               &TranscodeAttrs::replace_control_characters>()
        .infer(infer_transcode)
        .kernel("reference", run_transcode)
        .on_host()
        .no_gradient()
        .samples("strings(3), 'UTF-8', 'UTF-16-BE'");

}  // namespace

Tensor strings::unicode_transcode(const In& input, const std::string& input_encoding,
                                  const std::string& output_encoding, const TranscodeOptions& o) {
  return transcode_op({input}, {input_encoding, output_encoding, o.errors, o.replacement_char,
                                o.replace_control_characters});
}

}  // namespace holdfast
