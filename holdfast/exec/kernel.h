// Choosing and running one kernel: what eager execution and plans share.
#pragma once

#include "holdfast/op/op.h"

namespace holdfast {

/// The first kernel for `kind` that does not refuse; null if all do, with their reasons in
/// `refusals`.
const Kernel* pick_kernel(const OpDef&, DeviceKind kind, const Call&, std::string& refusals);
/// A kernel's failure, told as a failure of the op on the user's line.
[[noreturn]] void raise_from(const Status&, const OpDef&, std::span<const Tensor> in);
[[noreturn]] void no_kernel(const OpDef&, std::span<const Tensor> in, Device*,
                            const std::string& refusals);
/// Notes on fresh results which op made them.
void stamp(const OpDef&, std::span<const Tensor> in, Tensors& out);

}  // namespace holdfast
