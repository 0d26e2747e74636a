// The op that copies a value from one device to another.
#pragma once

#include "holdfast/op/opdef.h"

namespace holdfast {

/// Its input on the device that the node runs on. Graphs hold it after they were placed.
HOLDFAST_API const OpDef& copy_op();

}  // namespace holdfast
