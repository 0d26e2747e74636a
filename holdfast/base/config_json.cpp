// Configs as JSON.
#include <charconv>
#include <cmath>
#include <limits>

#include "holdfast/base/config.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace {

constexpr int kDeepest = 256;  // a deeper text would need a stack that nobody promised

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Config whole() {
    Config out = value(0);
    space();
    if (at_ < text_.size()) wrong("the end of the text");
    return out;
  }

 private:
  [[noreturn]] void wrong(const std::string& expected) { wrong_at(at_, expected); }
  [[noreturn]] void wrong_at(size_t at, const std::string& expected) {
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
    fail(Code::E1104,
         cat("JSON, line ", line, ", column ", column, ": ", got, ", expected ", expected));
  }

  void space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool next(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }

  Config value(int depth) {
    if (depth > kDeepest) wrong(cat("at most ", kDeepest, " levels"));
    space();
    if (at_ >= text_.size()) wrong("a value");
    switch (text_[at_]) {
      case '{': return dict(depth);
      case '[': return list(depth);
      case '"': return string();
      default: break;
    }
    if (word("null")) return nullptr;
    if (word("true")) return true;
    if (word("false")) return false;
    if (word("NaN")) return std::numeric_limits<double>::quiet_NaN();
    if (word("Infinity")) return std::numeric_limits<double>::infinity();
    if (word("-Infinity")) return -std::numeric_limits<double>::infinity();
    return number();
  }

  Config number() {
    size_t begin = at_, i = at_;
    auto digits = [&] {
      size_t from = i;
      while (i < text_.size() && text_[i] >= '0' && text_[i] <= '9') ++i;
      return i > from;
    };
    auto is = [&](char c) { return i < text_.size() && text_[i] == c; };
    if (is('-')) ++i;
    if (i >= text_.size() || text_[i] < '0' || text_[i] > '9') {
      at_ = i > begin ? i : begin;
      wrong(i > begin ? "a digit" : "a value");
    }
    if (is('0'))
      ++i;
    else
      digits();
    bool whole = true;
    if (is('.')) {
      whole = false;
      ++i;
      if (!digits()) wrong_at(i, "a digit");
    }
    if (is('e') || is('E')) {
      whole = false;
      ++i;
      if (is('+') || is('-')) ++i;
      if (!digits()) wrong_at(i, "a digit");
    }
    at_ = i;
    const char *first = text_.data() + begin, *last = text_.data() + i;
    int64_t n = 0;
    if (whole && std::from_chars(first, last, n).ec == std::errc()) return n;
    double d = 0;
    auto [end, error] = std::from_chars(first, last, d);
    if (error == std::errc::result_out_of_range) {
      bool tiny = text_.substr(begin, i - begin).find("e-") != std::string_view::npos ||
                  text_.substr(begin, i - begin).find("E-") != std::string_view::npos;
      d = tiny ? 0 : std::numeric_limits<double>::infinity();
      if (*first == '-') d = -d;
    }
    return d;
  }

  unsigned hex4() {
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

  static void put_utf8(std::string& out, unsigned c) {
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

  void escape(std::string& out) {
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

  std::string string() {
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

  Config list(int depth) {
    next('[');
    Config::List out;
    if (next(']')) return out;
    do out.push_back(value(depth + 1));
    while (next(','));
    if (!next(']')) wrong("`,` or `]`");
    return out;
  }

  Config dict(int depth) {
    next('{');
    ConfigDict out;
    if (next('}')) return out;
    do {
      space();
      size_t key_at = at_;
      std::string key = string();
      if (out.has(key)) wrong_at(key_at, cat("no second key \"", key, "\""));
      if (!next(':')) wrong("`:`");
      out.set(std::move(key), value(depth + 1));
    } while (next(','));
    if (!next('}')) wrong("`,` or `}`");
    return Config::described(std::move(out));
  }

  std::string_view text_;
  size_t at_ = 0;
};

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void value(const Config& v, int level) {
    switch (v.kind()) {
      case Config::Kind::kNull: out += "null"; break;
      case Config::Kind::kBool: out += v.as_bool() ? "true" : "false"; break;
      case Config::Kind::kInteger: out += cat(v.as_integer()); break;
      case Config::Kind::kNumber: number(v.as_number()); break;
      case Config::Kind::kText: text(v.as_text()); break;
      case Config::Kind::kList: list(v.as_list(), level); break;
      case Config::Kind::kDict: dict(v.as_dict(), level); break;
      case Config::Kind::kObject: {
        const ConfigObject& o = v.as_object();
        dict(
            {{"class_name", o.class_name},
             {"config", o.config},
             {"registered_name", o.registered_name.empty() ? Config() : Config(o.registered_name)}},
            level);
        break;
      }
    }
  }

  std::string out;

 private:
  void number(double v) {
    if (std::isnan(v)) {
      out += "NaN";
    } else if (std::isinf(v)) {
      out += v < 0 ? "-Infinity" : "Infinity";
    } else {
      char buffer[40];
      auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, v);
      std::string_view written(buffer, static_cast<size_t>(end - buffer));
      out += written;
      // So that it comes back as a number, and not as an integer.
      if (written.find_first_of(".e") == std::string_view::npos) out += ".0";
    }
  }

  void text(std::string_view s) {
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

  void line(int level) {
    if (indent_ < 0) return;
    out += '\n';
    out.append(static_cast<size_t>(indent_) * static_cast<size_t>(level), ' ');
  }

  template <class List, class F>
  void items(const List& list, const char* brackets, int level, F&& one) {
    out += brackets[0];
    bool first = true;
    for (const auto& item : list) {
      if (!first) out += indent_ < 0 ? ", " : ",";
      first = false;
      line(level + 1);
      one(item);
    }
    if (!first) line(level);
    out += brackets[1];
  }
  void list(const Config::List& l, int level) {
    items(l, "[]", level, [&](const Config& v) { value(v, level + 1); });
  }
  void dict(const ConfigDict& d, int level) {
    items(d, "{}", level, [&](const ConfigDict::Entry& e) {
      text(e.first);
      out += ": ";
      value(e.second, level + 1);
    });
  }

  int indent_;
};

}  // namespace

Config Config::from_json(std::string_view text) { return Reader(text).whole(); }

std::string Config::to_json(int indent) const {
  Writer writer(indent);
  writer.value(*this, 0);
  return std::move(writer.out);
}

}  // namespace holdfast
