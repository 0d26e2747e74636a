// The words of which JSON is made: what every reader and writer of it needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "holdfast/base/api.h"

namespace holdfast {

enum class Code : uint16_t;

/// A JSON text and how far it is read. What is wrong with it is told with its line and column.
class HOLDFAST_API JsonText {
 public:
  /// `what` is what messages call the text, `code` what it is refused with.
  JsonText(std::string what, std::string_view text, Code code)
      : text_(text), what_(std::move(what)), code_(code) {}

 protected:
  /// Refuses what stands at this place: something else was expected.
  [[noreturn]] void wrong(const std::string& expected) { wrong_at(at_, expected); }
  [[noreturn]] void wrong_at(size_t at, const std::string& expected);
  void space();
  /// Goes beyond `c` if it is what comes next, or beyond a whole word.
  bool next(char c);
  bool word(std::string_view w);
  /// The text in quotes that must come next, without its escapes.
  std::string string();

  std::string_view text_;
  size_t at_ = 0;

 private:
  unsigned hex4();
  void escape(std::string& out);
  std::string what_;
  Code code_;
};

/// Appends `s` in quotes, with the escapes that JSON wants.
HOLDFAST_API void put_json_text(std::string& out, std::string_view s);

}  // namespace holdfast
