#pragma once

#include <memory>

#include "holdfast/op/function.h"

namespace holdfast {

/// Takes a record over; it lives as long as the process.
const OpDef* keep(std::unique_ptr<OpDef>);
const FunctionDef* keep(std::unique_ptr<FunctionDef>);

}  // namespace holdfast
