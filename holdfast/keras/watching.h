// What traced code goes by on Keras' objects: options, weights, layers inside.
#pragma once

#include "holdfast/exec/watched.h"
#include "holdfast/op/variable.h"

namespace holdfast::keras {

class Layer;

/// The code goes by an object of a declared class, and by what that refers to: a trace that is
/// being made serves while they are as they are now.
HOLDFAST_API void goes_by(const Object& object);
/// It goes by what of a layer matters to training alone, too.
HOLDFAST_API void goes_by_training(const Layer& layer);
/// It goes by whether training changes a variable.
HOLDFAST_API void goes_by_training(const Variable& v);

}  // namespace holdfast::keras
