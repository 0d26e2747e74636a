// Configs as JSON.
#include <charconv>
#include <cmath>
#include <limits>

#include "holdfast/base/config.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/json_text.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace {

constexpr int kDeepest = 256;  // a deeper text would need a stack that nobody promised

class Reader : JsonText {
 public:
  explicit Reader(std::string_view text) : JsonText("JSON", text, Code::E1104) {}

  Config whole() {
    Config out = value(0);
    space();
    if (at_ < text_.size()) wrong("the end of the text");
    return out;
  }

 private:
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
        ConfigDict all = {
            {"class_name", o.class_name},
            {"config", o.config},
            {"registered_name", o.registered_name.empty() ? Config() : Config(o.registered_name)}};
        for (const auto& [key, value] : o.more) all.set(key, value);
        dict(all, level);
        break;
      }
      case Config::Kind::kLive:
        fail(Code::E1105, cat(v.text(), " can't be written as JSON"),
             "it is an object of the running program, and its config is what a file can hold");
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

  void text(std::string_view s) { put_json_text(out, s); }

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
