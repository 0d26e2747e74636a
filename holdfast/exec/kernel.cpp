#include "holdfast/exec/kernel.h"

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"

namespace holdfast {

void raise_from(const Status& s, const OpDef& op, std::span<const Tensor> in) {
  auto d = about_call(s.code(), op, in, s.headline());
  d.why = s.why();
  d.fixes = s.fixes();
  raise(std::move(d));
}

void no_kernel(const OpDef& op, std::span<const Tensor> in, Device* device,
               const std::string& refusals) {
  auto d = about_call(Code::E1105, op, in,
                      cat(op.name, " has no kernel for this call on ", device->short_name()));
  d.why = refusals.empty() ? "no kernel is registered" : refusals;
  raise(std::move(d));
}

void stamp(const OpDef& op, std::span<const Tensor> in, Tensors& out) {
  Where variable = !in.empty() && in[0].defined() ? in[0].rep()->variable_born : nullptr;
  for (Tensor& t : out) {
    if (!t.defined()) continue;
    t.rep()->op = op.name.c_str();
    t.rep()->from_variable = variable;
  }
}

}  // namespace holdfast
