// Tensors as text, in the places that a template keeps for them.
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/debugging/tensor_text.h"

namespace holdfast {
namespace {

struct FormatAttrs {
  Attr<std::string> template_;
  Attr<std::string> placeholder;
  Attr<int64_t> summarize;
};

int count_in(std::string_view text, std::string_view part) {
  int n = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++n;
  return n;
}

void infer_format(Infer& s) {
  auto attrs = s.attrs<FormatAttrs>();
  const std::string &text = attrs.template_(), &placeholder = attrs.placeholder();
  attrs.summarize();
  if (placeholder.empty())
    s.bad_value("placeholder", "an empty text", "a text to look for in the template");
  if (int n = count_in(text, placeholder); n != s.inputs())
    s.bad_value("template", cat(n, " places"), cat(s.inputs(), ", one for each input"));
  s.output(string, Shape{});
}

Status run_format(Call& c) {
  auto a = c.attrs<FormatAttrs>();
  std::string_view rest = a.template_(), placeholder = a.placeholder();
  std::string out;
  for (int i = 0; i < c.inputs(); ++i) {
    size_t at = rest.find(placeholder);
    out += rest.substr(0, at);
    out += printed_text(c.in(i), a.summarize());
    rest.remove_prefix(at + placeholder.size());
  }
  out += rest;
  *c.out().mutable_raw<std::string>() = std::move(out);
  return {};
}

const Op op =
    RAW_OP(StringFormat)
        .doc("A template with tensors in the places of its placeholders.")
        .inputs("inputs*: any")
        .attr("template", "%s")
        .attr("placeholder", "%s")
        .attr("summarize", 3)
        .attrs<&FormatAttrs::template_, &FormatAttrs::placeholder, &FormatAttrs::summarize>()
        .infer(infer_format)
        .kernel("reference", run_format)
        .on_host()
        .no_gradient();

}  // namespace
}  // namespace holdfast
