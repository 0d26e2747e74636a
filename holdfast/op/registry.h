#pragma once

#include <memory>

#include "holdfast/op/function.h"

namespace holdfast {

/// Takes a record over; it lives as long as the process.
const OpDef* keep(std::unique_ptr<OpDef>);
const FunctionDef* keep(std::unique_ptr<FunctionDef>);

/// How many kernels were added to ops that were there: what somebody chose before may be outdated.
HOLDFAST_API uint64_t kernels_added();

}  // namespace holdfast
