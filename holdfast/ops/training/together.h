// Steps of one rule over several variables, as one op.
#pragma once

#include "holdfast/op/op.h"

namespace holdfast::train {

/// Variables that one step holds at once, each by a lock: tools that watch over locks lose sight of
/// a thread that has more than 64.
inline constexpr int kMostTogether = 48;

/// Moves several variables by one rule, which the attribute `rule` names; inputs are those of all
/// its calls, one after the other.
HOLDFAST_API const OpDef& together_op();
/// Its attributes for calls with `attrs` of `op`.
HOLDFAST_API Attrs together_attrs(const OpDef& op, const Attrs& attrs);
/// How many of the first inputs of such a call are variables; 0: calls of `op` can't be joined.
HOLDFAST_API int variables_of_rule(const OpDef& op);

}  // namespace holdfast::train
