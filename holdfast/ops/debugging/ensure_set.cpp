// A value that is only there if something ran to compute it: who uses it, asks.
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/debugging.h"
#include "holdfast/ops/debugging/check.h"
#include "holdfast/ops/debugging/elements.h"

namespace holdfast {
namespace {

struct EnsureSetAttrs {
  Attr<std::vector<std::string>> words;
  Attr<std::string> message;
};

void infer_set(Infer& s) {
  auto a = s.attrs<EnsureSetAttrs>();
  check_of("EnsureSet", a.words.arg(), a.message.arg(), {});
  s.output(s.dtype(), s.shape());
}

Status run_set(Call& c) {
  auto a = c.attrs<EnsureSetAttrs>();
  if (!failures_in(c.in(1), 1).count) {
    c.set_out(0, view_of(c.in(), c.out_shape()));
    return {};
  }
  std::vector<std::string> words = a.words();
  Diagnostic d;
  d.code = Code::E1106;
  d.op = "EnsureSet";
  d.headline = cat(words.empty() ? "a value" : words[0], " has no value where it is used");
  d.why = a.message();
  d.labels.push_back(used_here("used here"));
  raise(std::move(d));
}

struct NeedSetAttrs {
  Attr<std::string> name, message, why, fix, source;
  Attr<int64_t> line;
};

void infer_need(Infer& s) { s.attrs<NeedSetAttrs>(); }

Status run_need(Call& c) {
  if (!failures_in(c.in(0), 1).count) return {};
  auto a = c.attrs<NeedSetAttrs>();
  Diagnostic d;
  d.code = Code::E1106;
  d.op = "NeedSet";
  d.headline = cat("`", a.name(), "` is read, but ", a.message());
  d.why = a.why();
  Label used = used_here(cat("`", a.name(), "` is read here"));
  Loc decided = used.loc;
  decided.line = static_cast<int>(a.line());
  decided.col_begin = decided.col_end = -1;
  decided.source = a.source();
  d.labels.push_back(
      {Role::kPlaced, std::move(decided), cat("whether `", a.name(), "` is set is decided here")});
  d.labels.push_back(std::move(used));
  d.fixes.push_back(manual_fix(a.fix()));
  raise(std::move(d));
}

// A name has no value to hand on: reading it is what stops the program, used or not.
const Op need = RAW_OP(NeedSet)
                    .doc("Stops the program if `set` is false: what reads a name has none.")
                    .inputs("set: B")
                    .dtypes(kBools, "B")
                    .outputs("")
                    .attr("name", "")
                    .attr("message", "")
                    .attr("why", "")
                    .attr("fix", "")
                    .attr("source", "")
                    .attr("line", 0)
                    .attrs<&NeedSetAttrs::name, &NeedSetAttrs::message, &NeedSetAttrs::why,
                           &NeedSetAttrs::fix, &NeedSetAttrs::source, &NeedSetAttrs::line>()
                    .infer(infer_need)
                    .kernel("check", run_need)
                    .on_host()
                    .stateful()
                    .no_gradient();

// No effect: where nobody uses the value, nobody asks whether it is there.
const Op op = RAW_OP(EnsureSet)
                  .doc("A value; stops the program if `set` is false, for then it has none.")
                  .inputs("x: any, set: B")
                  .dtypes(kAll, "any")
                  .dtypes(kBools, "B")
                  .attr("words", std::vector<std::string>{})
                  .attr("message", "")
                  .attrs<&EnsureSetAttrs::words, &EnsureSetAttrs::message>()
                  .infer(infer_set)
                  .kernel("check", run_set)
                  .aliases(+[](const Types&, int) { return 0; })
                  .gradient(+[](Grad& g) -> Tensors { return {g.dy(), Tensor()}; })
                  .keeps("");

}  // namespace
}  // namespace holdfast
