// The optimizer of a model.
#pragma once

#include "holdfast/keras/model.h"
#include "holdfast/keras/optimizer.h"

namespace holdfast::keras {

/// What a model is trained by. `compile` may have been given none: refused then, for `asked_by`.
Optimizer& optimizer_of(const ModelLayer& model, const char* asked_by);

}  // namespace holdfast::keras
