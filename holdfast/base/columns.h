// Text as a terminal shows it: UTF-8 in, columns out. Bad bytes and control characters are
// replaced, so whatever a user's file or string holds, what we print is valid UTF-8 on the line we
// meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

/// One printed character: its bytes, its width, and where it began in the text it came from.
struct Cell {
  std::string text;
  int width = 1;
  size_t byte = 0;
};

/// `s` as cells. A tab becomes one cell of spaces up to the next multiple of four columns.
std::vector<Cell> cells(std::string_view s);

/// `s` on one line, in valid UTF-8: line ends become spaces, control characters are replaced.
std::string one_line(std::string_view s);

/// `s` with each byte that is not UTF-8 replaced, and nothing else.
std::string valid_utf8(std::string_view s);

/// How many columns a terminal uses for `s`.
int columns(std::string_view s);

/// `s` within `limit` columns: cut after a word, with an ellipsis, and not inside `quoted` text.
std::string cut_at_word(std::string_view s, int limit);

}  // namespace holdfast
