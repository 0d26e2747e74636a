#include "holdfast/op/written_call.h"

#include <algorithm>
#include <cctype>

namespace holdfast {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

std::string trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return std::string(s);
}

// Texts and comments hold brackets and commas that mean nothing: such a line is left alone.
bool is_plain(std::string_view line) {
  return line.find_first_of("\"'") == line.npos && line.find("//") == line.npos &&
         line.find("/*") == line.npos;
}

// The begin of the operand that ends at `end`: names, dots, arrows, and what is in brackets.
size_t begin_of_operand(std::string_view line, size_t end) {
  size_t i = end;
  int depth = 0;
  while (i > 0) {
    char c = line[i - 1];
    if (closes(c)) {
      ++depth;
    } else if (opens(c)) {
      if (depth == 0) break;
      --depth;
    } else if (depth == 0 && c == '>' && i > 1 && line[i - 2] == '-') {
      --i;
    } else if (depth == 0 && !in_name(c) && c != '.' && c != ':') {
      break;
    }
    --i;
  }
  return depth == 0 ? i : end;
}

size_t end_of_operand(std::string_view line, size_t begin) {
  size_t i = begin;
  int depth = 0;
  for (; i < line.size(); ++i) {
    char c = line[i];
    if (opens(c)) {
      ++depth;
    } else if (closes(c)) {
      if (depth == 0) break;
      --depth;
    } else if (depth == 0 && c == '-' && i + 1 < line.size() && line[i + 1] == '>') {
      ++i;
    } else if (depth == 0 && !in_name(c) && c != '.' && c != ':') {
      break;
    }
  }
  return depth == 0 ? i : begin;
}

// Cuts what stands between `begin` and the bracket that closes it, at commas outside of brackets.
// Gives the place of that bracket; npos where the line ends before it.
size_t cut_at_commas(std::string_view line, size_t begin, std::vector<std::string>& parts) {
  int depth = 0;
  for (size_t i = begin; i < line.size(); ++i) {
    char c = line[i];
    bool last = depth == 0 && closes(c);
    if (last || (depth == 0 && c == ',')) {
      if (i > begin) parts.push_back(trimmed(line.substr(begin, i - begin)));
      begin = i + 1;
      if (last) return i;
    } else if (opens(c)) {
      ++depth;
    } else if (closes(c)) {
      --depth;
    }
  }
  return line.npos;
}

// Whether an operand that ends or begins here is whole: no operator binds it to something else.
bool whole_before(std::string_view line, size_t begin) {
  std::string before = trimmed(line.substr(0, begin));
  if (before.empty() || before.ends_with("return")) return true;
  char c = before.back();
  bool assigned =
      c == '=' && (before.size() < 2 || std::string_view("=!<>").find(before[before.size() - 2]) ==
                                            std::string_view::npos);
  return c == '(' || c == '{' || c == ',' || c == ';' || assigned;
}
bool whole_after(std::string_view line, size_t end) {
  std::string after = trimmed(line.substr(end));
  return after.empty() || after[0] == ')' || after[0] == '}' || after[0] == ',' || after[0] == ';';
}

}  // namespace

std::optional<WrittenCall> written_call(std::string_view line, std::string_view function) {
  if (!is_plain(line)) return {};
  size_t found = line.npos;
  for (size_t at = line.find(function); at != line.npos; at = line.find(function, at + 1)) {
    size_t after = at + function.size();
    if ((at > 0 && in_name(line[at - 1])) || after >= line.size() || line[after] != '(') continue;
    if (found != line.npos) return {};
    found = at;
  }
  if (found == line.npos) return {};
  WrittenCall out;
  size_t name_end = found;
  if (found > 0 && line[found - 1] == '.') name_end = found - 1;
  if (found > 1 && line[found - 1] == '>' && line[found - 2] == '-') name_end = found - 2;
  if (name_end != found) {
    size_t begin = begin_of_operand(line, name_end);
    if (line[begin] != '(')  // else a cast, or more than a name
      out.object = std::string(line.substr(begin, name_end - begin));
  }
  if (cut_at_commas(line, found + function.size() + 1, out.arguments) == line.npos) return {};
  return out;
}

std::string written_element(std::string_view argument, size_t i) {
  if (argument.empty()) return {};
  if (argument.front() != '{') {
    bool name = end_of_operand(argument, 0) == argument.size() && !closes(argument.back());
    return name ? std::string(argument) + "[" + std::to_string(i) + "]" : std::string();
  }
  std::vector<std::string> parts;
  if (cut_at_commas(argument, 1, parts) != argument.size() - 1 || i >= parts.size()) return {};
  return parts[i];
}

std::string written_truth(std::string_view line) {
  if (!is_plain(line)) return {};
  constexpr std::string_view kWords[] = {"if (", "while (", "static_cast<bool>("};
  std::string out;
  size_t question = line.find('?');
  for (std::string_view word : kWords) {
    size_t at = line.find(word);
    if (at == line.npos) continue;
    std::vector<std::string> parts;
    bool whole = cut_at_commas(line, at + word.size(), parts) != line.npos && parts.size() == 1;
    if (!out.empty() || !whole || question != line.npos || line.find(word, at + 1) != line.npos)
      return {};
    out = parts[0];
  }
  if (out.empty() && question != line.npos) {
    std::string_view before = line.substr(0, question);
    for (std::string_view word : {"return ", " = "})
      if (size_t at = before.rfind(word); at != before.npos) before.remove_prefix(at + word.size());
    out = trimmed(before);
    int depth = 0;
    for (char c : out) depth += opens(c) ? 1 : closes(c) ? -1 : 0;
    if (depth != 0) return {};
  }
  // Which of several is asked can't be seen from the line.
  bool one = out.find("&&") == out.npos && out.find("||") == out.npos && !out.starts_with('!') &&
             out.find(';') == out.npos && out.find(" = ") == out.npos;
  return one && out.size() <= 40 ? out : std::string();
}

std::string written_name(std::string_view line) {
  if (!is_plain(line)) return {};
  size_t at = line.find(" = ");
  if (at == line.npos || line.find(" = ", at + 1) != line.npos) return {};
  size_t begin = at;
  while (begin > 0 && in_name(line[begin - 1])) --begin;
  // A member or an element is no variable that a later line could name alone.
  if (begin == at || (begin > 0 && line[begin - 1] != ' ' && line[begin - 1] != '&')) return {};
  return std::string(line.substr(begin, at - begin));
}

bool asks_truth_of(std::string_view line, std::string_view name) {
  if (!is_plain(line)) return false;
  size_t first = line.npos;
  for (std::string_view word : {"if (", "while (", "static_cast<bool>("})
    first = std::min(first, line.find(word));
  const size_t question = line.find('?');
  for (size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool whole =
        (at == 0 || !in_name(line[at - 1])) && (end == line.size() || !in_name(line[end]));
    // A member of it, or its size, is something else.
    if (!whole || (end < line.size() && (line[end] == '.' || line[end] == '('))) continue;
    const std::string_view after = line.substr(end), before = line.substr(0, at);
    if (first < at || (question != line.npos && at < question) || after.starts_with(" &&") ||
        after.starts_with(" ||") || before.ends_with("&& ") || before.ends_with("|| "))
      return true;
  }
  return false;
}

std::string written_reader(std::string_view line) {
  if (!is_plain(line)) return {};
  size_t found = line.npos;
  for (std::string_view how :
       {".item<", ".to_vector<", ".to_double(", ".to_int(", ".span<", ".data<"})
    for (size_t at = line.find(how); at != line.npos; at = line.find(how, at + 1)) {
      if (found != line.npos) return {};
      found = at;
    }
  if (found == line.npos) return {};
  size_t begin = begin_of_operand(line, found);
  return std::string(line.substr(begin, found - begin));
}

std::optional<WrittenCall> written_operands(std::string_view line, std::string_view symbol) {
  if (!is_plain(line)) return {};
  std::string spaced = " " + std::string(symbol) + " ";
  size_t at = line.find(spaced);
  if (at == line.npos || line.find(spaced, at + 1) != line.npos) return {};
  size_t begin = begin_of_operand(line, at), right = at + spaced.size(),
         end = end_of_operand(line, right);
  if (begin == at || end == right || !whole_before(line, begin) || !whole_after(line, end))
    return {};
  return WrittenCall{
      "",
      {std::string(line.substr(begin, at - begin)), std::string(line.substr(right, end - right))}};
}

}  // namespace holdfast
