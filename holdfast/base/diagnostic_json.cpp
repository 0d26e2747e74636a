// A Diagnostic as one line of JSON, schema 1. Columns count from 1 and the last one is included, as
// editors count; everything unknown is null.
#include <cstdio>
#include <string_view>

#include "holdfast/base/columns.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace {

constexpr const char* kSeverities[] = {"error", "warning", "bug"};
constexpr const char* kApplicabilities[] = {"tested", "maybe", "manual"};
constexpr const char* kRoles[] = {"born",  "stored",  "closed", "used",  "first_use",
                                  "freed", "rebound", "cut",    "placed"};

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (char c : valid_utf8(s)) {
    if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string or_null(std::string_view s) { return s.empty() ? "null" : quoted(s); }

template <class T, class F>
std::string list(const std::vector<T>& xs, F one) {
  std::string out = "[";
  for (const T& x : xs) out += (out.size() > 1 ? ", " : "") + one(x);
  return out + "]";
}

std::string path(const std::string& file) { return quoted(short_path(file)); }

std::string col(const Loc& l) {
  return l.col_begin < 0 ? "null" : cat("[", l.col_begin + 1, ", ", l.col_end, "]");
}

std::string place(const Loc& l) {
  if (l.file.empty()) return "null";
  return cat("{\"file\": ", path(l.file), ", \"line\": ", l.line, ", \"col\": ", col(l),
             ", \"qualname\": ", or_null(l.qualname), "}");
}

std::string scope(const ScopeInfo& s) {
  return cat("{\"kind\": ", quoted(s.kind), ", \"name\": ", or_null(s.name),
             ", \"defined\": ", place(s.defined), ", \"trace_no\": ", s.trace_no,
             ", \"state\": ", quoted(s.state), ", \"closed_at\": ", place(s.closed_at), "}");
}

std::string tensor(const TensorInfo& t) {
  return cat("{\"py_name\": ", or_null(t.name), ", \"op\": ", or_null(t.op),
             ", \"dtype\": ", or_null(t.dtype), ", \"shape\": ", or_null(t.shape),
             ", \"device\": ", or_null(t.device), ", \"born\": ", place(t.born),
             ", \"owner\": ", scope(t.owner), ", \"holder_path\": ", or_null(t.holder_path), "}");
}

std::string span(const Label& l) {
  return cat("{\"file\": ", path(l.loc.file), ", \"line\": ", l.loc.line, ", \"col\": ", col(l.loc),
             ", \"is_primary\": ", l.primary,
             ", \"role\": ", quoted(kRoles[static_cast<int>(l.role)]),
             ", \"label\": ", quoted(text_of(l)), "}");
}

std::string edit(const Edit& e) {
  return cat("{\"file\": ", path(e.file), ", \"line\": ", e.line, ", \"col\": ", e.col + 1,
             ", \"old\": ", quoted(e.old_text), ", \"new\": ", quoted(e.new_text), "}");
}

std::string fix(const Fix& f) {
  return cat("{\"title\": ", quoted(f.title),
             ", \"applicability\": ", quoted(kApplicabilities[static_cast<int>(f.applicability)]),
             ", \"edits\": ", list(f.edits, edit), "}");
}

}  // namespace

std::string to_json(const Diagnostic& d) {
  const TensorInfo& t = d.subject;
  bool has_subject = !(t.name.empty() && t.op.empty() && t.dtype.empty() && t.born.file.empty());
  const char* code = info(d.code).name;
  return cat(
      "{\"schema\": 1, \"code\": ", quoted(code),
      ", \"level\": ", quoted(kSeverities[static_cast<int>(d.severity)]),
      ", \"message\": ", quoted(d.headline), ", \"op\": ", or_null(d.op),
      ", \"spans\": ", list(d.labels, span), ", \"subject\": ", has_subject ? tensor(t) : "null",
      ", \"owner\": ", has_subject ? scope(t.owner) : "null",
      ", \"others\": ", list(d.others, tensor), ", \"path\": ", list(d.path, tensor),
      ", \"why\": ", quoted(d.why), ", \"fixes\": ", list(d.fixes, fix), ", \"children\": []",
      ", \"hidden_frames\": ", d.hidden_frames, ", \"thread\": ", or_null(d.thread),
      ", \"docs\": ", quoted(code), ", \"rendered\": ", quoted(render(d)), "}");
}

}  // namespace holdfast
