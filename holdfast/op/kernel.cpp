#include "holdfast/op/kernel.h"

#include "holdfast/base/text.h"

namespace holdfast {

Chosen choose_kernel(const Types& t, std::string& refusals) {
  DType d = t.inputs() && t.has(0) ? t.dtype() : t.outputs() ? t.out_dtype(0) : DType::kResource;
  for (const Kernel& k : t.op.kernels) {
    if (k.device != t.device->kind()) continue;
    bool takes = k.dtypes.has(d) || d == DType::kResource || d == DType::kVariant;
    const char* reason = takes ? (k.refuse ? k.refuse(t) : nullptr) : "dtype";
    if (!reason && !k.prepare) return {k, {}};
    if (!reason) {
      Preparation made = k.prepare(t);
      if (made.ready) return {k, std::move(made.ready)};
      reason = made.refusal;
    }
    refusals += cat(refusals.empty() ? "" : "; ", k.name, ": ", reason);
  }
  return {};
}

Status run_kernel(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs, Device* device,
                  Tensors& out) {
  Tensors there;
  for (size_t i = 0; i < in.size(); ++i) {
    bool host = op.inputs[std::min(i, op.inputs.size() - 1)].host;
    there.push_back(in[i].defined() && in[i].device() ? copy_to(in[i], host ? cpu() : device)
                                                      : in[i]);
  }
  Infer infer(op, there, attrs);
  op.infer(infer);
  out.clear();
  out.resize(infer.dtypes.size());
  Call call(op, there, attrs, infer, device, out);
  std::string refusals;
  if (Chosen chosen = choose_kernel(call.types(), refusals)) return chosen.run(call);
  if (device->kind() == DeviceKind::kCpu)
    return {Code::E1105, cat(op.name, " has no kernel for this call on ", device->short_name()),
            refusals};
  if (Status s = run_kernel(op, in, attrs, cpu(), out); !s.ok()) return s;
  for (Tensor& t : out)
    if (t.defined() && t.device()) t = copy_to(t, device);
  return {};
}

}  // namespace holdfast
