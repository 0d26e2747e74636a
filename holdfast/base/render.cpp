// The text of a Diagnostic. One pass lays out everything that is shown; while that is too long, the
// least important part is left out and the pass runs again. See "Layout" in docs/diagnostics.md.
#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "holdfast/base/columns.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace {

constexpr size_t kLines = 25;
constexpr int kColumns = 100;
constexpr int kUnbroken = 1 << 20;  // the width of rows where there is no room for more rows
constexpr int kTagColumn = 79;
constexpr size_t kFixes = 2;
constexpr size_t kPathSteps = 8;
constexpr int kProseRows = 5;     // of one explanation, however long the words in it are
constexpr int kBesideMarks = 40;  // room that a label's text needs to stand behind its marks

using Rows = std::vector<std::string>;

std::string spaces(int n) { return std::string(static_cast<size_t>(std::max(n, 0)), ' '); }

std::string repeat(char c, int n) { return std::string(static_cast<size_t>(std::max(n, 1)), c); }

void pad_to(std::string& row, int column) { row += spaces(column - columns(row)); }

// ---- prose --------------------------------------------------------------------------------------

// The end of the word that begins at `at`: spaces within `quoted code` are part of it.
size_t word_end(std::string_view s, size_t at) {
  for (; at < s.size() && s[at] != ' '; ++at)
    if (size_t close = s[at] == '`' ? s.find('`', at + 1) : s.npos; close != s.npos) at = close;
  return at;
}

// `said` in rows of at most `room` columns, broken between words; a longer word stays whole.
Rows wrapped(const std::string& said, int room) {
  std::string all = one_line(said);
  if (columns(all) <= room) return {all};
  if (!diag_mode("full")) all = cut_at_word(all, kProseRows * room);
  Rows rows;
  for (size_t at = 0; at < all.size();) {
    size_t end = word_end(all, at);
    std::string word = all.substr(at, end - at);
    if (rows.empty() || columns(rows.back()) + 1 + columns(word) > room)
      rows.push_back(word);
    else
      rows.back() += " " + word;
    at = end + 1;
  }
  return rows;
}

// Behind ` why: ` or ` fix: `, where further rows keep the indent.
Rows prose(const std::string& head, const std::string& said, int width) {
  int indent = columns(head);
  Rows rows = wrapped(said, width - indent);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = (i ? spaces(indent) : head) + rows[i];
  return rows;
}

// ---- source lines -------------------------------------------------------------------------------

// A source line, cut to `room` columns around the part that matters.
class Shown {
 public:
  Shown(std::string_view source, size_t focus_begin, size_t focus_end, int room)
      : cells_(cells(source)) {
    int width = 0;
    for (const Cell& c : cells_) width += c.width;
    end_ = width;
    if (width <= room) return;
    int begin = at(focus_begin), span = std::min(at(focus_end) - begin, room);
    start_ = std::clamp(begin - (room - span) / 2, 0, width - room);
    end_ = start_ + room;
    cut_right_ = end_ < width;
  }

  std::string text() const {
    std::string out = start_ > 0 ? "…" : "";
    int column = 0;
    for (const Cell& c : cells_) {
      bool inside = column >= start_ + (start_ > 0) && column + c.width <= end_ - cut_right_;
      if (inside) out += c.text;
      column += c.width;
    }
    return out + (cut_right_ ? "…" : "");
  }

  // Where the byte is shown; what was cut away lies at the edge.
  int column(size_t byte) const { return std::clamp(at(byte), start_, end_) - start_; }

 private:
  int at(size_t byte) const {
    int column = 0;
    for (const Cell& c : cells_) {
      if (c.byte >= byte) break;
      column += c.width;
    }
    return column;
  }

  std::vector<Cell> cells_;
  int start_ = 0, end_ = 0;
  bool cut_right_ = false;
};

std::string_view trimmed_right(std::string_view s) {
  size_t last = s.find_last_not_of(" \t\r\n");
  return last == std::string_view::npos ? s.substr(0, 0) : s.substr(0, last + 1);
}

bool is_cpp(std::string_view file) {
  for (std::string_view end : {".cpp", ".cc", ".cxx", ".cu", ".h", ".hpp"})
    if (file.size() > end.size() && file.substr(file.size() - end.size()) == end) return true;
  return false;
}

struct Bytes {
  size_t begin = 0, end = 0;
};

// The statement on a line: without its indentation and its trailing comment.
Bytes statement(std::string_view source, std::string_view file) {
  std::string_view comment = is_cpp(file) ? "//" : "#";
  char quote = 0;
  size_t end = source.size();
  for (size_t i = 0; i < source.size(); ++i) {
    if (quote) {
      if (source[i] == '\\')
        ++i;
      else if (source[i] == quote)
        quote = 0;
    } else if (source[i] == '"' || source[i] == '\'') {
      quote = source[i];
    } else if (source.substr(i, comment.size()) == comment) {
      end = i;
      break;
    }
  }
  size_t begin = source.find_first_not_of(" \t");
  if (begin == std::string_view::npos || begin >= end) begin = 0, end = source.size();
  return {begin, trimmed_right(source.substr(0, end)).size()};
}

Bytes marked_bytes(const Loc& loc, std::string_view source) {
  auto begin = static_cast<size_t>(loc.col_begin), end = static_cast<size_t>(loc.col_end);
  if (loc.col_begin < 0 || loc.col_end <= loc.col_begin || begin >= source.size())
    return statement(source, loc.file);
  return {begin, std::min(end, source.size())};
}

// ---- labels -------------------------------------------------------------------------------------

struct Marker {
  const Label* label;
  int begin, end;
  int width() const { return std::max(end - begin, 1); }
};

// Spreads markers over rows so that none overlap; the primary one is in the first row.
std::vector<std::vector<Marker>> spread(std::vector<Marker> markers) {
  std::stable_sort(markers.begin(), markers.end(), [](const Marker& a, const Marker& b) {
    if (a.label->primary != b.label->primary) return a.label->primary;
    return a.begin > b.begin;
  });
  std::vector<std::vector<Marker>> rows;
  for (const Marker& m : markers) {
    auto free = std::find_if(rows.begin(), rows.end(), [&](const std::vector<Marker>& row) {
      return std::none_of(row.begin(), row.end(), [&](const Marker& o) {
        return m.begin <= o.begin + o.width() && o.begin <= m.begin + m.width();
      });
    });
    if (free == rows.end()) free = rows.emplace(rows.end());
    free->push_back(m);
  }
  for (auto& row : rows)
    std::sort(row.begin(), row.end(),
              [](const Marker& a, const Marker& b) { return a.begin < b.begin; });
  return rows;
}

// The text of a marker of `row`, below it; what stands to its left still hangs on its bar.
void hanging_rows(const std::vector<Marker>& row, size_t i, const std::string& bar, int column,
                  int width, Rows& out) {
  const std::string text = text_of(*row[i].label);
  if (text.empty()) return;
  int right = width - columns(bar);
  column = std::min(column, std::max(0, right - std::min(columns(text), kBesideMarks)));
  for (const std::string& said : wrapped(text, right - column)) {
    std::string below;
    for (size_t k = 0; k < i && row[k].begin < column; ++k) {
      pad_to(below, row[k].begin);
      below += '|';
    }
    pad_to(below, column);
    out.push_back(bar + below + said);
  }
}

// One row of markers ending in the text of the last; the texts of the others hang below it, and so
// does what is too long to stand there.
void marker_rows(const std::vector<Marker>& row, const std::string& bar, int width, Rows& out) {
  std::string marks;
  for (const Marker& m : row) {
    pad_to(marks, m.begin);
    marks += repeat(m.label->primary ? '^' : '-', m.width());
  }
  std::string last = one_line(text_of(*row.back().label));
  int column = columns(marks) + 1, right = width - columns(bar);
  bool beside = column + columns(last) <= right;
  out.push_back(bar + marks + (last.empty() || !beside ? "" : " " + last));
  for (size_t i = row.size() - beside; i-- > 0;)
    hanging_rows(row, i, bar, row[i].begin, width, out);
}

using Labels = std::vector<const Label*>;

// A source line and the labels on it.
void line_rows(const Labels& labels, int gutter, int width, Rows& out) {
  std::string bar = spaces(gutter + 1) + "| ";
  const Label* focus = labels.front();
  std::string_view source;
  for (const Label* l : labels) {
    if (l->primary) focus = l;
    if (source.empty()) source = trimmed_right(l->loc.source);
  }
  if (source.empty()) {
    for (const Label* l : labels)
      for (const std::string& said :
           prose(cat("line ", l->loc.line, ": "), text_of(*l), width - columns(bar)))
        out.push_back(bar + said);
    return;
  }
  Bytes part = marked_bytes(focus->loc, source);
  Shown shown(source, part.begin, part.end, kColumns - gutter - 3);
  std::string number = std::to_string(focus->loc.line);
  out.push_back(cat(spaces(gutter - static_cast<int>(number.size())), number, " | ", shown.text()));
  std::vector<Marker> markers;
  for (const Label* l : labels) {
    Bytes b = marked_bytes(l->loc, source);
    markers.push_back({l, shown.column(b.begin), shown.column(b.end)});
  }
  for (const auto& row : spread(markers)) marker_rows(row, bar, width, out);
}

bool same(const Label& a, const Label& b) {
  return a.loc.file == b.loc.file && a.loc.line == b.loc.line &&
         a.loc.col_begin == b.loc.col_begin && a.loc.col_end == b.loc.col_end &&
         text_of(a) == text_of(b);
}

// The labels that can be shown: those with a place, each once.
Labels placed_labels(const Diagnostic& d) {
  Labels out;
  for (const Label& l : d.labels) {
    bool again = std::any_of(out.begin(), out.end(), [&](const Label* o) { return same(*o, l); });
    if (!l.loc.file.empty() && !again) out.push_back(&l);
  }
  return out;
}

const Label* primary_of(const Labels& labels) {
  for (const Label* l : labels)
    if (l->primary) return l;
  return labels.empty() ? nullptr : labels.front();
}

// A block per file, the primary label's first; within it the labels in order of line.
void label_blocks(const Labels& labels, int gutter, int width, Rows& out) {
  const Label* primary = primary_of(labels);
  if (!primary) return;
  std::vector<std::string> files{primary->loc.file};
  for (const Label* l : labels)
    if (std::find(files.begin(), files.end(), l->loc.file) == files.end())
      files.push_back(l->loc.file);
  for (const std::string& file : files) {
    std::map<int, Labels> lines;
    for (const Label* l : labels)
      if (l->loc.file == file) lines[l->loc.line].push_back(l);
    int head = file == primary->loc.file ? primary->loc.line : lines.begin()->first;
    out.push_back(cat(spaces(gutter), "--> ", one_line(short_path(file)), ":", head));
    out.push_back(spaces(gutter + 1) + "|");
    for (const auto& [line, on_line] : lines) line_rows(on_line, gutter, width, out);
    out.push_back(spaces(gutter + 1) + "|");
  }
}

// ---- fixes --------------------------------------------------------------------------------------

std::string source_line(const Diagnostic& d, const std::string& file, int line) {
  for (const Label& l : d.labels)
    if (l.loc.file == file && l.loc.line == line && !l.loc.source.empty()) return l.loc.source;
  std::ifstream in(file);
  std::string text;
  for (int i = 0; i < line; ++i)
    if (!std::getline(in, text)) return {};
  return text;
}

// Where the edit's old text stands: at its column, or else where it first occurs.
size_t place_of(const Edit& e, std::string_view line) {
  auto col = static_cast<size_t>(std::max(e.col, 0));
  if (line.substr(std::min(col, line.size())).substr(0, e.old_text.size()) == e.old_text)
    return col;
  return line.find(e.old_text);
}

std::vector<std::string> split_lines(std::string_view s) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= s.size();) {
    size_t end = std::min(s.find('\n', begin), s.size());
    out.emplace_back(s.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// The rows of one changed line: what it was, what it becomes.
void changed_line(const std::string& was, std::vector<const Edit*> edits, const std::string& number,
                  Rows& out) {
  std::string old_line = was;
  std::string before;  // whole lines to insert
  if (old_line.empty())
    for (const Edit* e : edits) old_line += (old_line.empty() ? "" : " … ") + e->old_text;
  std::string new_line = old_line;
  // From right to left, so that columns to the left of a change stay true.
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit* a, const Edit* b) { return a->col > b->col; });
  size_t focus = old_line.size();
  for (const Edit* e : edits) {
    if (e->old_text.empty()) {
      if (!e->new_text.empty() && e->new_text.back() == '\n') {
        before += e->new_text;
      } else {
        new_line = e->new_text + new_line;
        focus = 0;
      }
    } else if (size_t at = place_of(*e, new_line); at != std::string::npos) {
      new_line.replace(at, e->old_text.size(), e->new_text);
      focus = std::min(focus, at);
    }
  }
  auto row = [&](char sign, std::string_view text) {
    Shown shown(trimmed_right(text), focus, text.size(), kColumns - 9 - columns(number));
    out.push_back(std::string(trimmed_right(cat("    | ", number, " ", sign, " ", shown.text()))));
  };
  if (!before.empty()) {
    before.pop_back();
    for (const std::string& line : split_lines(before)) row('+', line);
  }
  if (new_line == old_line) return;
  row('-', old_line);
  if (new_line.find_first_not_of(" \t") == std::string::npos) return;  // the line goes away
  for (const std::string& line : split_lines(new_line)) row('+', line);
}

void fix_rows(const Diagnostic& d, const Fix& fix, const std::string& home, int gutter,
              bool with_edits, int width, Rows& out) {
  static constexpr const char* kTags[] = {"[tested]", "[maybe]", "[manual]"};
  std::string tag = kTags[static_cast<int>(fix.applicability)];
  Rows title = prose(" fix: ", fix.title, width - 2 - columns(tag));
  pad_to(title.back(), kTagColumn - 2);
  title.back() += "  " + tag;
  out.insert(out.end(), title.begin(), title.end());
  if (!with_edits) return;
  std::map<std::pair<std::string, int>, std::vector<const Edit*>> lines;
  for (const Edit& e : fix.edits) lines[{e.file, e.line}].push_back(&e);
  std::string file = home;
  for (const auto& [at, edits] : lines) {
    if (at.first != file) out.push_back("    --> " + one_line(short_path(at.first)));
    file = at.first;
    std::string number = std::to_string(at.second);
    number = spaces(gutter - static_cast<int>(number.size())) + number;
    changed_line(source_line(d, at.first, at.second), edits, number, out);
  }
}

// ---- the whole ----------------------------------------------------------------------------------

std::string step_text(const TensorInfo& t) {
  std::string where = t.op;
  if (!t.born.file.empty())
    where += cat(where.empty() ? "" : ", ", short_path(t.born.file), ":", t.born.line);
  std::string out = t.name.empty() ? "" : "`" + t.name + "`";
  if (!where.empty()) out += out.empty() ? where : " (" + where + ")";
  return one_line(out);
}

// The chain on one row if it fits, else a row per step.
void path_rows(const std::vector<TensorInfo>& path, Rows& out) {
  if (path.empty()) return;
  std::vector<std::string> steps;
  for (const TensorInfo& t : path) steps.push_back(step_text(t));
  if (steps.size() > kPathSteps && !diag_mode("full")) {
    size_t gone = steps.size() - kPathSteps + 1, keep = kPathSteps / 2;
    auto first = steps.begin() + static_cast<std::ptrdiff_t>(keep);
    steps.erase(first, first + static_cast<std::ptrdiff_t>(gone));
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(keep), cat("… ", gone, " more …"));
  }
  std::string row = " path: " + steps[0];
  for (size_t i = 1; i < steps.size(); ++i) row += " → " + steps[i];
  if (columns(row) <= kColumns) {
    out.push_back(row);
    return;
  }
  out.push_back(" path: " + steps[0]);
  for (size_t i = 1; i < steps.size(); ++i) out.push_back("     → " + steps[i]);
}

bool inside_character(const std::string& s, size_t at) {
  return at < s.size() && (static_cast<unsigned char>(s[at]) & 0xc0) == 0x80;
}

// A headline is complete alone: of one that is too long, what follows a semicolon goes first, then
// the middle of long names, and words only where that does not do.
std::string first_clause(const std::string& said, int room) {
  size_t end = said.rfind("; ");
  bool cut = columns(said) > room && end != said.npos && columns(said.substr(0, end)) > room / 2;
  return cut ? said.substr(0, end) : said;
}

std::string shorter_names(std::string said, int room) {
  constexpr size_t kLong = 30, kShortest = 16;
  for (int excess; (excess = static_cast<int>(columns(said)) - room) > 0;) {
    size_t begin = 0, length = 0;
    for (size_t at = 0; (at = said.find('`', at)) != said.npos;) {
      size_t end = said.find('`', at + 1);
      if (end == said.npos) break;
      if (end - at - 1 > length) begin = at + 1, length = end - begin;
      at = end + 1;
    }
    if (length <= kLong) break;
    size_t left = std::max(kShortest, length - std::min(length, static_cast<size_t>(excess) + 3));
    size_t head = begin + left / 2, tail = begin + length - (left - left / 2 - 1);
    while (inside_character(said, head)) --head;
    while (inside_character(said, tail)) ++tail;
    if (tail - head < 4) break;
    said.replace(head, tail - head, "…");
  }
  return said;
}

std::string first_line(const Diagnostic& d) {
  static constexpr const char* kWords[] = {"error", "warning", "bug"};
  std::string head = cat(kWords[static_cast<int>(d.severity)], "[", info(d.code).name, "]: ");
  const std::string& said = d.headline.empty() ? info(d.code).headline : d.headline;
  int room = kColumns - columns(head);
  return head + cut_at_word(shorter_names(first_clause(said, room), room), room);
}

// What is still shown.
struct Choice {
  Labels labels;
  size_t fixes = 0, left_out = 0;
  bool edits = true, frames = true, path = true, breaks = true;
};

int gutter_of(const Diagnostic& d, const Choice& c) {
  int last = 1;
  for (const Label* l : c.labels) last = std::max(last, l->loc.line);
  for (size_t i = 0; i < c.fixes && c.edits; ++i)
    for (const Edit& e : d.fixes[i].edits) last = std::max(last, e.line);
  return static_cast<int>(std::to_string(last).size());
}

Rows lay_out(const Diagnostic& d, const Choice& c) {
  Rows rows{first_line(d)};
  int gutter = gutter_of(d, c);
  int width = c.breaks ? kColumns : kUnbroken;
  label_blocks(c.labels, gutter, width, rows);
  if (c.path) path_rows(d.path, rows);
  if (!d.why.empty())
    for (std::string& row : prose(" why: ", d.why, width)) rows.push_back(std::move(row));
  const Label* primary = primary_of(c.labels);
  std::string home = primary ? primary->loc.file : "";
  for (size_t i = 0; i < c.fixes; ++i) fix_rows(d, d.fixes[i], home, gutter, c.edits, width, rows);
  if (c.left_out > 0)
    rows.push_back(cat(" note: ", c.left_out, c.left_out == 1 ? " label" : " labels",
                       " left out (HOLDFAST_DIAG=full shows all)"));
  if (c.frames && d.hidden_frames > 0)
    rows.push_back(cat(" note: ", d.hidden_frames, " framework ",
                       d.hidden_frames == 1 ? "frame" : "frames",
                       " hidden (HOLDFAST_DIAG=full shows them)"));
  const char* code = info(d.code).name;
  rows.push_back(cat(" docs: ", code, "  (offline: holdfast explain ", code, ")"));
  return rows;
}

// Leaves out the last label of the wanted kind, never the primary one.
bool drop_label(Choice& c, bool births_too) {
  const Label* primary = primary_of(c.labels);
  for (size_t i = c.labels.size(); i-- > 0;) {
    if (c.labels[i] == primary || (c.labels[i]->role == Role::kBorn && !births_too)) continue;
    c.labels.erase(c.labels.begin() + static_cast<std::ptrdiff_t>(i));
    ++c.left_out;
    return true;
  }
  return false;
}

bool drop(bool& shown) { return std::exchange(shown, false); }

// Makes the text shorter by its least important part.
bool shorten(Choice& c) {
  if (drop(c.breaks)) return true;
  if (c.fixes > 1) return --c.fixes, true;
  return drop_label(c, false) || drop(c.frames) || drop_label(c, true) || drop(c.edits) ||
         drop(c.path);
}

}  // namespace

std::string render(const Diagnostic& d) {
  Choice choice{.labels = placed_labels(d), .fixes = std::min(d.fixes.size(), kFixes)};
  bool full = diag_mode("full");
  if (full) {
    choice.fixes = d.fixes.size();
    choice.frames = false;  // whoever has the frames shows them
  }
  Rows rows = lay_out(d, choice);
  while (!full && rows.size() > kLines && shorten(choice)) rows = lay_out(d, choice);
  std::string text;
  for (const std::string& row : rows) text += (text.empty() ? "" : "\n") + row;
  return text;
}

}  // namespace holdfast
