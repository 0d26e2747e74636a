// Words, numbers and marks of a text, with their places.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "holdfast/base/api.h"

namespace holdfast {

enum class TokenKind : uint8_t { kWord, kText, kNumber, kMark, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // of a quoted text: what it stands for
  int line = 1, column = 1;
};

/// Reads one token ahead. `#` begins a comment.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) { step(); }

  const Token& peek() const { return token_; }
  Token next() {
    Token t = token_;
    step();
    return t;
  }
  bool at(std::string_view mark_or_word) const {
    return (token_.kind == TokenKind::kMark || token_.kind == TokenKind::kWord) &&
           token_.text == mark_or_word;
  }
  /// Takes it if it is next.
  bool take(std::string_view mark_or_word) {
    bool here = at(mark_or_word);
    if (here) step();
    return here;
  }
  /// Takes it, or refuses the text.
  void expect(std::string_view mark_or_word);
  /// A word or a quoted text.
  std::string name(const char* what);
  Token number(const char* what);
  /// Throws E1103: what stands at the next token, and what was expected.
  [[noreturn]] void expected(std::string what) const;
  /// Characters that are left.
  size_t left() const { return rest_.size(); }
  [[noreturn]] static void refuse(const Token& at, std::string headline);

 private:
  void step();
  void advance(size_t n);
  void read_text();

  std::string_view rest_;
  Token token_;
  int line_ = 1, column_ = 1;
};

}  // namespace holdfast
