// Choosing and running one kernel: what eager execution, plans and kernels of others share.
#pragma once

#include "holdfast/op/opdef.h"

namespace holdfast {

/// A kernel for calls of the same types, with what it prepared for them, if it does.
struct Chosen {
  Kernel kernel{};  // a copy: a plugin may add to the op's list
  Ref<const Prepared> prepared;

  explicit operator bool() const { return kernel.name != nullptr; }
  Status run(Call& c) const { return prepared ? kernel.run_prepared(c, *prepared) : kernel.run(c); }
};

/// The first kernel for the device of `types` that does not refuse; none if all do, with their
/// reasons in `refusals`.
HOLDFAST_API Chosen choose_kernel(const Types& types, std::string& refusals);

/// Runs a kernel of `op` from inside a kernel of another, which is the one that users called:
/// nothing is placed, recorded or observed. Operands are brought to `device`, and where that has no
/// kernel for them, the CPU's runs, between copies.
HOLDFAST_API Status run_kernel(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs,
                               Device* device, Tensors& out);

}  // namespace holdfast
