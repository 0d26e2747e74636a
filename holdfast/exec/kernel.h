// Running one op: what eager execution and plans share.
#pragma once

#include "holdfast/op/kernel.h"
#include "holdfast/op/observer.h"
#include "holdfast/op/op.h"

namespace holdfast {

/// A kernel's failure, told as a failure of the op on the user's line.
[[noreturn]] void raise_from(const Status&, const OpDef&, std::span<const Tensor> in);
[[noreturn]] void no_kernel(const OpDef&, std::span<const Tensor> in, Device*,
                            const std::string& refusals);
/// The device an op runs on: where its variable lives, else the one asked for, else the accelerator
/// an operand lives on (a host number beside it follows), else that of its first operand, else the
/// default.
Device* place(const OpDef&, std::span<const Tensor> in);
/// Whether a tensor of an accelerator begins inside of an element, as a view of bytes may: no
/// kernel there can load it, so it is copied before one runs.
bool lies_askew(const Tensor&);
/// A copy that begins with a whole element.
Tensor straightened(const Tensor&);
/// Runs an op at once, as `eager()` does, for somebody who tells observers of it; `told` is given
/// device and kernel.
void run_eagerly(const OpDef&, std::span<const Tensor> in, const Attrs&, Tensors& out, OpRun* told);
/// Notes on fresh results which op made them.
void stamp(const OpDef&, std::span<const Tensor> in, Tensors& out);

}  // namespace holdfast
