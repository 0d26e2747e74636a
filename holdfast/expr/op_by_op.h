// How a device that has nothing better runs a fused node.
#pragma once

#include <string_view>

#include "holdfast/op/opdef.h"

namespace holdfast {

/// The kernel that runs the ops of a list one after another. Graphs that are placed write them out
/// instead, so that memory is planned and what a device can't do is seen.
inline constexpr const char* kOpByOp = "each";
inline bool is_op_by_op(const Kernel& k) { return std::string_view(k.name) == kOpByOp; }

}  // namespace holdfast
