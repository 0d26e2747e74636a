// Layers that need not see their inputs to be built.
#pragma once

#include "holdfast/base/api.h"

namespace holdfast::keras {

/// What layers are that make nothing when they are built, so that programs see them as built from
/// the start, where Keras does. The shapes of their inputs are noted at the first call as ever.
class HOLDFAST_API BuiltAtOnce {};

}  // namespace holdfast::keras
