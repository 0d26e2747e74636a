#include "holdfast/base/json_text.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace {

void put_utf8(std::string& out, unsigned c) {
  auto byte = [&](unsigned b) { out += static_cast<char>(b); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0 | c >> 6);
    byte(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    byte(0xE0 | c >> 12);
    byte(0x80 | (c >> 6 & 0x3F));
    byte(0x80 | (c & 0x3F));
  } else {
    byte(0xF0 | c >> 18);
    byte(0x80 | (c >> 12 & 0x3F));
    byte(0x80 | (c >> 6 & 0x3F));
    byte(0x80 | (c & 0x3F));
  }
}

}  // namespace

void JsonText::wrong_at(size_t at, const std::string& expected) {
  int64_t line = 1, column = 1;
  for (size_t i = 0; i < at && i < text_.size(); ++i) {
    if (text_[i] == '\n') {
      ++line;
      column = 1;
    } else if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) {
      ++column;  // of characters, not of bytes
    }
  }
  std::string got = "the text ends";
  if (at < text_.size()) {
    auto c = static_cast<unsigned char>(text_[at]);
    got = c < 0x20 || c >= 0x7F ? cat("there is the byte ", static_cast<int>(c))
                                : cat("there is `", text_[at], "`");
  }
  fail(code_, cat(what_, ", line ", line, ", column ", column, ": ", got, ", expected ", expected));
}

void JsonText::space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
}

bool JsonText::next(char c) {
  space();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool JsonText::word(std::string_view w) {
  if (text_.substr(at_, w.size()) != w) return false;
  at_ += w.size();
  return true;
}

unsigned JsonText::hex4() {
  unsigned out = 0;
  for (int k = 0; k < 4; ++k, ++at_) {
    char c = at_ < text_.size() ? text_[at_] : '\0';
    unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                     : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                     : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                            : 16;
    if (digit == 16) wrong("four hexadecimal digits");
    out = out * 16 + digit;
  }
  return out;
}

void JsonText::escape(std::string& out) {
  size_t begin = at_ - 1;
  char c = at_ < text_.size() ? text_[at_++] : '\0';
  static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
  if (size_t k = from.find(c); c && k != std::string_view::npos) {
    out += to[k];
  } else if (c == 'u') {
    unsigned high = hex4();
    if (high >= 0xD800 && high < 0xDC00) {
      if (!word("\\u")) wrong("the second half of a surrogate pair");
      unsigned low = hex4();
      if (low < 0xDC00 || low > 0xDFFF) wrong_at(begin, "a surrogate pair");
      high = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    } else if (high >= 0xDC00 && high <= 0xDFFF) {
      wrong_at(begin, "a surrogate pair");
    }
    put_utf8(out, high);
  } else {
    wrong_at(begin, "an escape that JSON has");
  }
}

std::string JsonText::string() {
  if (!next('"')) wrong("a text in double quotes");
  std::string out;
  while (true) {
    if (at_ >= text_.size()) wrong("the `\"` that ends the text");
    char c = text_[at_];
    if (static_cast<unsigned char>(c) < 0x20) wrong("no bare control character in a text");
    ++at_;
    if (c == '"') return out;
    if (c == '\\')
      escape(out);
    else
      out += c;
  }
}

void put_json_text(std::string& out, std::string_view s) {
  static const char* digits = "0123456789abcdef";
  out += '"';
  for (char c : s) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (auto byte = static_cast<unsigned char>(c); byte < 0x20)
          out += cat("\\u00", digits[byte >> 4], digits[byte & 15]);
        else
          out += c;
    }
  }
  out += '"';
}

}  // namespace holdfast
