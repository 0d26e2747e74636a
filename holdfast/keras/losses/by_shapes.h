// The cross entropy that "crossentropy" means: which one, labels and predictions tell.
#pragma once

#include <string>

#include "holdfast/keras/loss.h"

namespace holdfast::keras {

/// Whether a name is that of no one function, but of the one that shapes tell: "crossentropy".
bool is_crossentropy_by_shapes(const std::string& name);
/// "binary" for one number an example, "categorical" for a share of each class, else
/// "sparse_categorical".
std::string labels_by_shapes(const Shape& y, const Shape& y_pred);
/// The loss of that name.
Ref<Loss> crossentropy_by_shapes(const std::string& name);

}  // namespace holdfast::keras
