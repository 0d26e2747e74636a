// Choosing and running one kernel: what eager execution and plans share.
#pragma once

#include "holdfast/op/op.h"

namespace holdfast {

/// A kernel for calls of the same types, with what it prepared for them, if it does.
struct Chosen {
  Kernel kernel{};  // a copy: a plugin may add to the op's list
  Ref<const Prepared> prepared;

  explicit operator bool() const { return kernel.name != nullptr; }
  Status run(Call& c) const { return prepared ? kernel.run_prepared(c, *prepared) : kernel.run(c); }
};

/// The first kernel for `kind` that does not refuse; none if all do, with their reasons in
/// `refusals`.
Chosen choose_kernel(const OpDef&, DeviceKind kind, const Call&, std::string& refusals);
/// A kernel's failure, told as a failure of the op on the user's line.
[[noreturn]] void raise_from(const Status&, const OpDef&, std::span<const Tensor> in);
[[noreturn]] void no_kernel(const OpDef&, std::span<const Tensor> in, Device*,
                            const std::string& refusals);
/// Notes on fresh results which op made them.
void stamp(const OpDef&, std::span<const Tensor> in, Tensors& out);

}  // namespace holdfast
