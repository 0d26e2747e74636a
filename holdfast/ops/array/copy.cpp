#include "holdfast/ops/array/copy.h"

#include "holdfast/op/op.h"

namespace holdfast {
namespace {

Status run_copy(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  Device* from = x.device();
  auto bytes = static_cast<size_t>(x.bytes());
  auto at = [](const Tensor& t) { return static_cast<size_t>(t.rep()->offset); };
  const Buffer& source = *x.rep()->buffer;
  if (from == c.device) return from->copy_within(*y.rep()->buffer, at(y), source, at(x), bytes);
  if (c.device->kind() == DeviceKind::kCpu)
    return from->copy_to_host(y.mutable_raw(), source, at(x), bytes);
  Tensor host = copy_to(x, cpu());  // itself where it is there
  return c.device->copy_from_host(*y.rep()->buffer, at(y), host.raw(), bytes);
}

const Op copy = RAW_OP(CopyToDevice)
                    .inputs("input")
                    .doc(
                        "Its input on the device of the node. Graphs hold it after they were "
                        "placed.")
                    .dtypes(kPlain)
                    .moves_between_devices()
                    .same_as_input()
                    .no_gradient()
                    .kernel("copy", run_copy)
                    .kernel_for(DeviceKind::kCuda, "copy", run_copy);

}  // namespace

const OpDef& copy_op() { return copy.def(); }

}  // namespace holdfast
