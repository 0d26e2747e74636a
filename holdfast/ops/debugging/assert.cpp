// The plainest check: a condition, and what to show if it does not hold.
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/debugging.h"
#include "holdfast/ops/debugging/check.h"
#include "holdfast/ops/debugging/elements.h"
#include "holdfast/ops/debugging/tensor_text.h"
#include "holdfast/ops/math.h"

namespace holdfast {
namespace {

struct AssertAttrs {
  Attr<int64_t> summarize;
  Attr<std::vector<std::string>> words;
};

void infer_assert(Infer& s) {
  auto a = s.attrs<AssertAttrs>();
  a.summarize();
  check_of("Assert", a.words.arg(), "", {});
}

Status run_assert(Call& c) {
  auto a = c.attrs<AssertAttrs>();
  if (!failures_in(c.in(0), 1).count) return {};
  Check check = check_of("Assert", a.words.arg(), "", Tensors{c.in(0)});
  constexpr const char* kArguments[] = {"condition"};
  auto names = names_of(check, kArguments);
  std::string values;
  for (int i = 1; i < c.inputs(); ++i)
    values += cat(i > 1 ? "; " : "", array_text(c.in(i), a.summarize()));
  check_failed(check, names, cat(names[0], " is false"),
               c.inputs() > 1 ? cat("the data is ", values, ".") : "");
}

const Op op =
    RAW_OP(Assert)
        .doc("Stops the program, showing its data, unless a condition is true everywhere.")
        .inputs("condition: B, data*: any")
        .dtypes(kBools, "B")
        .outputs("")
        .attr("summarize", 3)
        .attr("words", std::vector<std::string>{})
        .attrs<&AssertAttrs::summarize, &AssertAttrs::words>()
        .infer(infer_assert)
        .kernel("check", run_assert)
        .on_host()
        .stateful()
        .no_gradient();

}  // namespace

void debugging::Assert(const In& condition, std::initializer_list<In> data,
                       const AssertOptions& o) {
  Tensor holds = condition.tensor();
  Tensors in{holds.dtype() == DType::kBool ? holds : cast(holds, DType::kBool)};
  for (const In& t : data) in.push_back(t.tensor());
  op.list(in, {o.summarize.value_or(-1)});
}

}  // namespace holdfast
