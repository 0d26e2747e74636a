#include "holdfast/graph/lexer.h"

#include <algorithm>
#include <cctype>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace {

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool in_name(char c) { return letter(c) || digit(c) || c == '.' || c == '/' || c == '-'; }

int hex_digit(char c) {
  if (digit(c)) return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Numbers begin with a digit or a sign, and hold what follows up to the next mark: 1e-5, 0x7fc1,
// -inf.
size_t number_length(std::string_view s) {
  size_t i = s[0] == '-' ? 1 : 0;
  while (i < s.size() && (letter(s[i]) || digit(s[i]) || s[i] == '.' ||
                          ((s[i] == '-' || s[i] == '+') && s[i - 1] == 'e')))
    ++i;
  return i;
}

}  // namespace

void Lexer::advance(size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (rest_[i] == '\n') {
      ++line_;
      column_ = 1;
    } else
      ++column_;
  }
  rest_.remove_prefix(n);
}

void Lexer::read_text() {
  advance(1);
  while (!rest_.empty() && rest_[0] != '"' && rest_[0] != '\n') {
    if (rest_[0] != '\\') {
      token_.text += rest_[0];
      advance(1);
    } else if (rest_.size() > 1 && (rest_[1] == '"' || rest_[1] == '\\')) {
      token_.text += rest_[1];
      advance(2);
    } else if (rest_.size() > 3 && rest_[1] == 'x' && hex_digit(rest_[2]) >= 0 &&
               hex_digit(rest_[3]) >= 0) {
      token_.text += static_cast<char>(hex_digit(rest_[2]) * 16 + hex_digit(rest_[3]));
      advance(4);
    } else {
      refuse({TokenKind::kMark, "\\", line_, column_},
             "a backslash begins `\\\\`, `\\\"` or `\\x` and two digits");
    }
  }
  if (rest_.empty() || rest_[0] != '"') refuse(token_, "a quoted text does not end on its line");
  advance(1);
}

void Lexer::step() {
  while (!rest_.empty()) {
    if (rest_[0] == '#')
      advance(std::min(rest_.find('\n'), rest_.size()));
    else if (std::isspace(static_cast<unsigned char>(rest_[0])))
      advance(1);
    else
      break;
  }
  token_ = {TokenKind::kEnd, "", line_, column_};
  if (rest_.empty()) return;
  size_t n = 1;
  if (rest_[0] == '"') {
    token_.kind = TokenKind::kText;
    return read_text();
  }
  if (letter(rest_[0])) {
    token_.kind = TokenKind::kWord;
    while (n < rest_.size() && in_name(rest_[n])) ++n;
  } else if (digit(rest_[0]) || rest_[0] == '-') {
    token_.kind = TokenKind::kNumber;
    n = number_length(rest_);
  } else {
    token_.kind = TokenKind::kMark;
    if (rest_.starts_with("...")) n = 3;
  }
  token_.text = rest_.substr(0, n);
  advance(n);
}

void Lexer::refuse(const Token& at, std::string headline) {
  fail(Code::E1103,
       cat("line ", at.line, ", column ", at.column, " of a graph's text: ", headline));
}

void Lexer::expected(std::string what) const {
  refuse(token_, cat("expected ", what, ", got ",
                     token_.kind == TokenKind::kEnd ? "the end" : cat("`", token_.text, "`")));
}

void Lexer::expect(std::string_view mark_or_word) {
  if (!take(mark_or_word)) expected(cat("`", mark_or_word, "`"));
}

std::string Lexer::name(const char* what) {
  if (token_.kind != TokenKind::kWord && token_.kind != TokenKind::kText) expected(what);
  return next().text;
}

Token Lexer::number(const char* what) {
  bool word = token_.kind == TokenKind::kWord && (token_.text == "inf" || token_.text == "nan" ||
                                                  token_.text == "True" || token_.text == "False");
  if (token_.kind != TokenKind::kNumber && !word) expected(what);
  return next();
}

}  // namespace holdfast
