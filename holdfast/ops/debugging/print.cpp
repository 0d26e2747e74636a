#include "holdfast/ops/print.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "holdfast/op/op.h"

namespace holdfast {
namespace {

struct PrintAttrs {
  Attr<std::string> output_stream;
  Attr<std::string> end;
};

using Sink = void (*)(bool, const std::string&);

void to_c_streams(bool to_stdout, const std::string& text) {
  FILE* stream = to_stdout ? stdout : stderr;
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

std::atomic<Sink> g_sink{to_c_streams};
constexpr std::string_view kFile = "file://";

void infer_print(Infer& s) {
  auto attrs = s.attrs<PrintAttrs>();
  s.need_rank(0, 0, 0);
  const std::string& stream = attrs.output_stream();
  attrs.end();
  bool file = stream.starts_with(kFile) && stream.size() > kFile.size();
  if (!file && stream != "stdout" && stream != "stderr")
    s.bad_value("output_stream", cat("\"", stream, "\""),
                "\"stderr\", \"stdout\", or \"file://\" and a path");
}

Status to_file(const std::string& path, const std::string& text) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "ab"), std::fclose);
  bool written = file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                 std::fflush(file.get()) == 0;
  if (written) return {};
  return {Code::E1103, cat("PrintV2: `output_stream` names ", path, ", which can't be written"),
          std::strerror(errno)};
}

Status run_print(Call& c) {
  auto a = c.attrs<PrintAttrs>();
  const std::string& stream = a.output_stream();
  std::string text = *c.in().raw<std::string>() + a.end();
  if (stream.starts_with(kFile)) return to_file(stream.substr(kFile.size()), text);
  g_sink.load()(stream == "stdout", text);
  return {};
}

const Op op = RAW_OP(PrintV2)
                  .doc("Prints a text when it runs.")
                  .inputs("input")
                  .dtypes(kStrings)
                  .outputs("")
                  .attr("output_stream", "stderr")
                  .attr("end", "\n")
                  .attrs<&PrintAttrs::output_stream, &PrintAttrs::end>()
                  .infer(infer_print)
                  .kernel("print", run_print)
                  .on_host()
                  .stateful()
                  .no_gradient();

// A text that does not occur in `text`.
std::string placeholder_for(const std::string& text) {
  std::string out = "{}";
  while (text.find(out) != std::string::npos) out.insert(size_t{1}, size_t{1}, '_');
  return out;
}

// All in a row, with `hole` where a value goes.
std::string joined(const std::vector<Printed>& pieces, const std::string& sep,
                   const std::string& hole) {
  std::string out;
  for (const Printed& p : pieces)
    out += cat(&p == &pieces.front() ? "" : sep,
               p.tensor.defined() || p.variable.defined() ? hole : p.text);
  return out;
}

}  // namespace

void set_print_sink(Sink sink) { g_sink = sink ? sink : to_c_streams; }

void print_all(const PrintOptions& o, const std::vector<Printed>& pieces) {
  static const Op format(find_op("StringFormat"));
  std::string hole = placeholder_for(joined(pieces, o.sep, ""));
  Tensors shown;
  for (const Printed& p : pieces)
    if (p.tensor.defined() || p.variable.defined())
      shown.push_back(p.tensor.defined() ? p.tensor : p.variable.read());
  Tensor text;
  if (shown.empty()) {
    text = empty(string, Shape{}, cpu());
    *text.mutable_raw<std::string>() = joined(pieces, o.sep, "");
  } else {
    text = format.list(shown, {joined(pieces, o.sep, hole), hole, o.summarize})[0];
  }
  op.many({text}, {o.output_stream, o.end});
}

}  // namespace holdfast
