// What is said of values that go from one device to another, and of ops that run elsewhere than
// asked.
#pragma once

#include <span>
#include <string>

#include "holdfast/op/opdef.h"

namespace holdfast {

/// Throws E0701: input `i` lies on `from`, the op runs on `to`, and the policy allows no copy.
[[noreturn]] void two_devices(const OpDef&, std::span<const Tensor> in, size_t i, Device* from,
                              Device* to);
/// Warns W0701: input `i` was copied.
void warn_copy(const OpDef&, std::span<const Tensor> in, size_t i, Device* from, Device* to);
/// Warns W0704: the CPU did what `device` could not.
void warn_fallback(const OpDef&, std::span<const Tensor> in, Device* device,
                   const std::string& refusals);

}  // namespace holdfast
