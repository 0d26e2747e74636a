// Layers that take their inputs as they come.
#pragma once

#include "holdfast/base/api.h"

namespace holdfast::keras {

/// What layers are that compute in a wider dtype than their policy's, or take numbers of rows:
/// their inputs are not made narrow before, only what they give is.
class HOLDFAST_API KeepsInputs {};

}  // namespace holdfast::keras
