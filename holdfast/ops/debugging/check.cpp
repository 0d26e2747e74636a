#include "holdfast/ops/debugging/check.h"

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"

namespace holdfast {
namespace {

bool plain_name(std::string_view s) {
  if (s.empty() || (s[0] >= '0' && s[0] <= '9')) return false;
  for (char c : s) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && std::string_view("_.[]->:").find(c) == std::string_view::npos) return false;
  }
  return true;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// The arguments of a call of `check` on the C++ line that is executing. Empty where they are more
// than names.
std::vector<std::string> written(const std::string& check) {
  Where at = here();
  if (!at || at->origin != Origin::kCpp) return {};
  std::string line = locate(at).source;
  size_t begin = line.find(check + "(");
  if (begin == std::string::npos || line.find(check + "(", begin + 1) != std::string::npos)
    return {};  // which of two, nobody knows
  std::vector<std::string> out;
  int depth = 0;
  size_t from = begin + check.size() + 1;
  for (size_t i = from; i < line.size(); ++i) {
    char c = line[i];
    if (c == '"' || c == '\'') return out;  // a text may hold any character
    bool closes = c == ')' || c == '}' || c == ']';
    if (depth == 0 && (c == ',' || closes)) {
      std::string_view word = trimmed(std::string_view(line).substr(from, i - from));
      out.emplace_back(plain_name(word) ? word : "");
      from = i + 1;
      if (closes) break;
    }
    depth += c == '(' || c == '{' || c == '[' ? 1 : closes ? -1 : 0;
  }
  return out;
}

bool same_place(const Loc& a, const Loc& b) {
  return a.file == b.file && a.line == b.line && a.col_begin == b.col_begin &&
         a.col_end == b.col_end;
}

// Where an operand comes from, unless the check itself made it, of a list or a number.
void add_birth(Diagnostic& d, const Tensor& t, const std::string& name, const Label& used) {
  if (!t.defined()) return;
  TensorInfo info = describe(t, name);
  (d.subject.dtype.empty() ? d.subject : d.others.emplace_back()) = info;
  if (info.born.line <= 0 || same_place(info.born, used.loc)) return;
  bool variable = t.rep()->variable_born;
  d.labels.push_back(
      {Role::kBorn, info.born,
       cat("born here: ", variable ? "Variable " : "", "`", name, "`, ", type_text(t),
           !variable && *t.rep()->op ? cat(" from ", t.rep()->op) : ""),
       false});
}

}  // namespace

std::vector<std::string> names_of(const Check& c, std::span<const char* const> arguments) {
  std::vector<std::string> said = c.words.empty() ? written(c.name) : c.words, out;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    bool known = i < said.size() && !said[i].empty();
    out.push_back(known ? said[i] : arguments[std::min(i, arguments.size() - 1)]);
  }
  return out;
}

std::string element_name(const std::string& name, const Shape& shape, int64_t place) {
  if (shape.rank() == 0) return name;
  std::string index;
  for (int axis = shape.rank(); axis-- > 0;) {
    int64_t size = shape[axis];
    index = cat(place % size, index.empty() ? "" : ", ", index);
    place /= size;
  }
  // `(a - b)[1]`, but `f(a, b)[1]`
  int depth = 0;
  bool apart = false;
  for (char c : name) {
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    apart = apart || (c == ' ' && !depth);
  }
  return apart ? cat("(", name, ")[", index, "]") : cat(name, "[", index, "]");
}

std::string count_text(int64_t failed, int64_t total) {
  return cat(failed, " of ", total, failed == 1 ? " is not" : " are not");
}

void check_failed(const Check& c, const std::vector<std::string>& names, const std::string& found,
                  const std::string& why, const std::string& suspect, int blamed) {
  Diagnostic d;
  d.code = Code::E1106;
  d.op = c.name;
  d.headline = cat("`", c.name, "` failed: ", found);
  d.why = c.message.empty() ? why : cat(c.message, ": ", why);
  Label used = used_here("checked here");
  for (size_t i = 0; i < c.operands.size(); ++i)
    if (blamed < 0 || i == static_cast<size_t>(blamed)) add_birth(d, c.operands[i], names[i], used);
  if (!suspect.empty())
    d.fixes.push_back(
        manual_fix(cat("check where `", suspect, "` comes from",
                       d.labels.empty() ? "" : cat(", in line ", d.labels[0].loc.line))));
  d.labels.push_back(std::move(used));
  raise(std::move(d));
}

Check check_of(const Arg& check, const Arg& words, const Arg& message,
               std::span<const Tensor> operands) {
  return {check.s(), {operands.begin(), operands.end()}, words.strings(), message.s()};
}

}  // namespace holdfast
