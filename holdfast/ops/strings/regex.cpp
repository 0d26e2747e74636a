// Regular expressions, by RE2: what a pattern costs grows with the text alone, whatever it says.
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/strings.h"

#ifdef HOLDFAST_RE2
#include <re2/re2.h>
#endif

namespace holdfast {
namespace {

struct ReplaceAttrs {
  Attr<bool> replace_global;
};
struct StaticReplaceAttrs {
  Attr<std::string> pattern;
  Attr<std::string> rewrite;
  Attr<bool> replace_global;
};
struct StaticMatchAttrs {
  Attr<std::string> pattern;
};

#ifdef HOLDFAST_RE2

Status refuse_pattern(const Call& c, const std::string& pattern, const std::string& why) {
  return {Code::E1103, cat(c.op.name, ": `pattern` is \"", pattern.substr(0, 60),
                           "\", which is no regular expression: ", why)};
}

Status replace(Call& c, const std::string& pattern, const std::string& rewrite, bool all) {
  RE2 expression(pattern, RE2::Quiet);
  if (!expression.ok()) return refuse_pattern(c, pattern, expression.error());
  std::string wrong;
  if (!expression.CheckRewriteString(rewrite, &wrong))
    return {Code::E1103, cat(c.op.name, ": `rewrite` is \"", rewrite.substr(0, 60), "\": ", wrong)};
  const auto* from = c.in(0).raw<std::string>();
  auto* to = c.out().mutable_raw<std::string>();
  for (int64_t i = 0, n = c.in(0).size(); i < n; ++i) {
    to[i] = from[i];
    if (all)
      RE2::GlobalReplace(&to[i], expression, rewrite);
    else
      RE2::Replace(&to[i], expression, rewrite);
  }
  return {};
}

Status match(Call& c, const std::string& pattern) {
  RE2 expression(pattern, RE2::Quiet);
  if (!expression.ok()) return refuse_pattern(c, pattern, expression.error());
  const auto* from = c.in(0).raw<std::string>();
  auto* to = c.out().mutable_raw<bool>();
  for (int64_t i = 0, n = c.in(0).size(); i < n; ++i) to[i] = RE2::FullMatch(from[i], expression);
  return {};
}

#else

Status absent(Call& c) {
  return {Code::E1105, cat(c.op.name, ": this build of Holdfast has no RE2"),
          "regular expressions are its work: install libre2-dev and build again"};
}
Status replace(Call& c, const std::string&, const std::string&, bool) { return absent(c); }
Status match(Call& c, const std::string&) { return absent(c); }

#endif

Status run_replace(Call& c) {
  return replace(c, *c.in(1).raw<std::string>(), *c.in(2).raw<std::string>(),
                 c.attrs<ReplaceAttrs>().replace_global());
}
Status run_match(Call& c) { return match(c, *c.in(1).raw<std::string>()); }
Status run_static_replace(Call& c) {
  auto a = c.attrs<StaticReplaceAttrs>();
  return replace(c, a.pattern(), a.rewrite(), a.replace_global());
}
Status run_static_match(Call& c) { return match(c, c.attrs<StaticMatchAttrs>().pattern()); }

const Op replace_op = OP(RegexReplace, &strings::regex_replace)
                          .args("input, pattern: P, rewrite: R")
                          .options<&strings::RegexReplaceOptions::replace_global>("replace_global")
                          .python("strings.regex_replace")
                          .doc(
                              "Strings with `rewrite` in place of what a pattern of RE2 finds; "
                              "\\\\1 to \\\\9 are its "
                              "groups.")
                          .inputs("input, pattern: P, rewrite: R")
                          .dtypes(kStrings)
                          .attr("replace_global", true)
                          .attrs<&ReplaceAttrs::replace_global>()
                          .infer(+[](Infer& s) {
                            s.need_rank(1, 0, 0);
                            s.need_rank(2, 0, 0);
                            s.output(string, s.shape());
                          })
                          .kernel("re2", run_replace)
                          .on_host()
                          .no_gradient();
const Op match_op = OP(RegexFullMatch, &strings::regex_full_match)
                        .args("input, pattern: P")
                        .python("strings.regex_full_match")
                        .doc("Whether a pattern of RE2 is true of the whole of each string.")
                        .inputs("input, pattern: P")
                        .dtypes(kStrings)
                        .infer(+[](Infer& s) {
                          s.need_rank(1, 0, 0);
                          s.output(DType::kBool, s.shape());
                        })
                        .kernel("re2", run_match)
                        .on_host()
                        .no_gradient();

// The same with patterns that are part of the program.
const Op static_replace_op =
    RAW_OP(StaticRegexReplace)
        .doc("Strings with `rewrite` in place of what a pattern of RE2 finds.")
        .inputs("input")
        .dtypes(kStrings)
        .attr("pattern")
        .attr("rewrite")
        .attr("replace_global", true)
        .attrs<&StaticReplaceAttrs::pattern, &StaticReplaceAttrs::rewrite,
               &StaticReplaceAttrs::replace_global>()
        .same_as_input()
        .kernel("re2", run_static_replace)
        .on_host()
        .no_gradient();
const Op static_match_op = RAW_OP(StaticRegexFullMatch)
                               .doc("Whether a pattern of RE2 is true of the whole of each string.")
                               .inputs("input")
                               .dtypes(kStrings)
                               .attr("pattern")
                               .attrs<&StaticMatchAttrs::pattern>()
                               .infer(+[](Infer& s) { s.output(DType::kBool, s.shape()); })
                               .kernel("re2", run_static_match)
                               .on_host()
                               .no_gradient();

}  // namespace

Tensor strings::regex_replace(const In& input, const In& pattern, const In& rewrite,
                              const RegexReplaceOptions& o) {
  return replace_op({input, pattern, rewrite}, {o.replace_global});
}
Tensor strings::regex_full_match(const In& input, const In& pattern) {
  return match_op(input, pattern);
}

}  // namespace holdfast
