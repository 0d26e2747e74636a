#include "holdfast/keras/models/summary.h"

#include <algorithm>
#include <cstdio>

#include "holdfast/base/text.h"
#include "holdfast/keras/models/outline.h"
#include "holdfast/keras/name_pattern.h"
#include "holdfast/keras/training.h"

namespace holdfast::keras {
namespace {

// "1,234"
std::string with_commas(int64_t n) {
  std::string digits = cat(n), out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

// A number with two digits behind the point, and the unit in which it is not too large.
std::string in_units(double n, double scale, const std::vector<const char*>& units) {
  size_t unit = 0;
  for (; n >= scale && unit + 1 < units.size(); ++unit) n /= scale;
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.2f %s", n, units[unit]);
  return buffer;
}
std::string memory(int64_t bytes) {
  return in_units(static_cast<double>(bytes), 1024, {"B", "KB", "MB", "GB", "TB", "PB"});
}
std::string operations(const Cost& c) {
  if (c.flops == 0) return c.complete ? "0" : "?";
  std::string n = c.flops < 10000
                      ? with_commas(c.flops)
                      : in_units(static_cast<double>(c.flops), 1000, {"", "K", "M", "G", "T", "P"});
  return c.complete ? n : cat(">= ", n);
}

// -- the table

// How many columns of a terminal a text takes: each character one, whatever its bytes.
size_t width_of(std::string_view s) {
  return static_cast<size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// A text in lines of at most `width`, broken at spaces where there are any.
std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> out;
  std::string line;
  size_t space = std::string::npos;  // the last one of the line
  for (size_t i = 0; i < text.size();) {
    size_t n = 1;
    while (i + n < text.size() && (text[i + n] & 0xc0) == 0x80) ++n;
    if (width_of(line) == width) {
      bool at_space = space != std::string::npos && line.find_first_not_of(' ') < space;
      std::string rest = at_space ? line.substr(space + 1) : "";
      out.push_back(at_space ? line.substr(0, space) : line);
      line = rest;
      space = std::string::npos;
      if (line.empty() && text[i] == ' ') {
        ++i;
        continue;
      }
    }
    if (text[i] == ' ') space = line.size();
    line += text.substr(i, n);
    i += n;
  }
  if (!line.empty() || out.empty()) out.push_back(line);
  return out;
}

struct Column {
  std::string title;
  size_t width;  // of the text
  bool right = false;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {
    rule("┏", "━", "┳", "┓");
    std::vector<std::string> titles;
    for (const Column& c : columns_) titles.push_back(c.title);
    cells(titles, "┃");
    rule("┡", "━", "╇", "┩");
  }
  void row(const std::vector<std::string>& texts) {
    if (rows_++ > 0) rule("├", "─", "┼", "┤");
    cells(texts, "│");
  }
  std::string finish() {
    rule("└", "─", "┴", "┘");
    return std::move(out_);
  }

 private:
  void rule(const char* left, const char* line, const char* between, const char* right) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      out_ += i ? between : left;
      for (size_t k = 0; k < columns_[i].width + 2; ++k) out_ += line;
    }
    out_ += cat(right, "\n");
  }
  void cells(const std::vector<std::string>& texts, const char* bar) {
    std::vector<std::vector<std::string>> lines;
    size_t high = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      lines.push_back(wrapped(texts[i], columns_[i].width));
      high = std::max(high, lines.back().size());
    }
    for (size_t k = 0; k < high; ++k) {
      for (size_t i = 0; i < columns_.size(); ++i) {
        std::string text = k < lines[i].size() ? lines[i][k] : "";
        size_t taken = width_of(text), wide = columns_[i].width;
        size_t left = taken < wide ? wide - taken : 0;
        out_ += cat(bar, " ");
        if (columns_[i].right) out_.append(left, ' ');
        out_ += text;
        if (!columns_[i].right) out_.append(left, ' ');
        out_ += ' ';
      }
      out_ += cat(bar, "\n");
    }
  }
  std::vector<Column> columns_;
  std::string out_;
  int64_t rows_ = 0;
};

// Widths of the columns from where they end; each has a bar before it and two spaces.
std::vector<size_t> widths(std::vector<double> ends, int64_t line) {
  if (!ends.empty() && ends.back() > 1)  // numbers of characters
    for (double& e : ends) e /= static_cast<double>(line);
  std::vector<size_t> out;
  int64_t before = 0;
  for (double end : ends) {
    int64_t wide = static_cast<int64_t>(end * static_cast<double>(line)) - before;
    if (wide < 4)
      fail(Code::E1103, cat("`summary`: a column would be ", wide, " characters wide"),
           "each needs 4 at least",
           {manual_fix("give a larger `line_length`, or `positions` that are further apart")});
    out.push_back(static_cast<size_t>(wide) - 3);
    before += wide;
  }
  return out;
}

std::pair<size_t, size_t> shown_range(const std::vector<OutlineEntry>& entries,
                                      const SummaryOptions& o) {
  if (!o.layer_range) return {0, entries.size()};
  auto matching = [&](const std::string& pattern) {
    std::vector<size_t> out;
    NamePattern wanted(pattern, "`layer_range`");
    for (size_t i = 0; i < entries.size(); ++i)
      if (wanted.begins(entries[i].name)) out.push_back(i);
    if (out.empty()) {
      std::vector<std::string> known;
      for (const OutlineEntry& e : entries) known.push_back(e.name);
      unknown_identifier("a layer that `layer_range` names", pattern, known);
    }
    return out;
  };
  std::vector<size_t> first = matching(o.layer_range->first),
                      last = matching(o.layer_range->second);
  if (first.front() > last.back()) return {last.front(), first.back() + 1};
  return {first.front(), last.back() + 1};
}

class Writer {
 public:
  Writer(const ModelLayer& model, const SummaryOptions& o)
      : model_(model), options_(o), outline_(outline_of(model, {o.expand_nested, false})) {}

  std::string text() {
    std::string out = cat("Model: \"", model_.name(), "\"\n");
    Table table(columns());
    Cost whole;
    int64_t kept = 0;
    for (const OutlineEntry& e : outline_.entries) {
      costs_.push_back(e.is_input ? Cost() : cost_of(model_, e));
      whole += costs_.back();
      kept += e.activation_bytes;
    }
    auto [from, to] = shown_range(outline_.entries, options_);
    for (size_t i = from; i < to; ++i) {
      rows(table, outline_.entries[i], costs_[i], 0, &model_);
    }
    out += table.finish();
    std::vector<Variable> trained = model_.trainable_variables(),
                          others = model_.non_trainable_variables(), optimizer;
    if (model_.is_compiled())
      if (const Ref<Optimizer>& o = model_.compiled().optimizer(); o && o->built())
        optimizer = o->variables();
    std::vector<Variable> all = trained;
    all.insert(all.end(), others.begin(), others.end());
    all.insert(all.end(), optimizer.begin(), optimizer.end());
    auto line = [&](const char* name, const std::vector<Variable>& variables) {
      out += cat(" ", name, ": ", with_commas(count_of(variables)), " (",
                 memory(bytes_of(variables)), ")\n");
    };
    line("Total params", all);
    line("Trainable params", trained);
    line("Non-trainable params", others);
    if (!optimizer.empty()) line("Optimizer params", optimizer);
    out += cat(" FLOPs: ", operations(whole), " (a forward pass; unknown sizes count as 1)\n");
    out += cat(" Activations: ", memory(kept), "\n");
    return out;
  }

 private:
  std::vector<Column> columns() const {
    bool chain = outline_.is_chain;
    std::vector<double> ends = options_.positions;
    size_t own = (chain ? 3 : 4) + (options_.show_trainable ? 1 : 0);
    constexpr int64_t kExtra = 14;  // the width of each of the last two columns
    int64_t line =
        options_.line_length.value_or((chain ? 100 : 124) + (options_.show_trainable ? 12 : 0));
    std::vector<size_t> wide;
    if (ends.size() == own + 2) {
      wide = widths(ends, line);
    } else {
      if (ends.empty())
        ends = chain ? std::vector{0.45, 0.80, 1.0} : std::vector{0.30, 0.56, 0.72, 1.0};
      if (options_.show_trainable && ends.size() + 1 == own) {
        for (double& e : ends) e *= 0.85;
        ends.push_back(ends.back() / 0.85);
      }
      if (ends.size() != own)
        fail(Code::E1104, cat("`positions` has ", options_.positions.size(), " numbers, expected ",
                              own, " or ", own + 2, ": one for each column"));
      wide = widths(ends, line - 1 - 2 * kExtra);
      wide.insert(wide.end(), 2, kExtra - 3);
    }
    std::vector<Column> out{{"Layer (type)", 0}, {"Output Shape", 0}, {"Param #", 0, true}};
    if (!chain) out.push_back({"Connected to", 0});
    if (options_.show_trainable) out.push_back({"Trainable", 0});
    out.push_back({"FLOPs", 0, true});
    out.push_back({"Activations", 0, true});
    for (size_t i = 0; i < out.size(); ++i) out[i].width = wide[i];
    return out;
  }

  void rows(Table& table, const OutlineEntry& e, const Cost& cost, size_t level,
            const ModelLayer* of) {
    std::string prefix;
    for (size_t i = 0; i < level; ++i) prefix += "   ";
    if (level) prefix += "└ ";
    std::vector<std::string> cells{cat(prefix, e.name, " (", e.kind, ")"), shapes_text(e.outputs),
                                   e.built ? with_commas(e.parameters) : "0 (unbuilt)"};
    if (!outline_.is_chain) cells.push_back(level ? "-" : connections(e));
    if (options_.show_trainable)
      cells.push_back(!e.layer || e.parameters == 0 ? "-" : e.layer->trainable() ? "Y" : "N");
    cells.push_back(operations(cost));
    cells.push_back(memory(e.activation_bytes));
    table.row(cells);
    auto* inner = dynamic_cast<const ModelLayer*>(e.layer.get());
    for (const OutlineEntry& one : e.inside)
      rows(table, one, one.is_input || !inner ? Cost() : cost_of(*inner, one), level + 1,
           inner ? inner : of);
  }

  std::string connections(const OutlineEntry& e) const {
    std::string out;
    for (const Source& s : e.from)
      out += cat(out.empty() ? "" : ", ", outline_.entries[s.entry].name, "[", s.call, "][",
                 s.result, "]");
    return out.empty() ? "-" : out;
  }

  const ModelLayer& model_;
  const SummaryOptions& options_;
  Outline outline_;
  std::vector<Cost> costs_;
};

}  // namespace

std::string summary_text(const ModelLayer& model, const SummaryOptions& o) {
  if (o.line_length && *o.line_length < 1)
    fail(Code::E1103, cat("`line_length` is ", *o.line_length, ", expected at least 1"));
  return Writer(model, o).text();
}

void ModelLayer::summary() const { summary({}); }
void ModelLayer::summary(const SummaryOptions& o) const {
  training_output().write(summary_text(*this, o));
}

}  // namespace holdfast::keras
