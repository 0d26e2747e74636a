// Ops that graphs are rewritten with, and that code below the public functions asks for by name.
#pragma once

#include "holdfast/op/opdef.h"

namespace holdfast::raw {

HOLDFAST_API const OpDef& add();
HOLDFAST_API const OpDef& gather();
HOLDFAST_API const OpDef& identity();
HOLDFAST_API const OpDef& maximum();
HOLDFAST_API const OpDef& reshape();
HOLDFAST_API const OpDef& subtract();
HOLDFAST_API const OpDef& transpose();
HOLDFAST_API const OpDef& zeros_like();

}  // namespace holdfast::raw
