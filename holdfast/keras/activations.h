// Activations by name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "holdfast/keras/function.h"

namespace holdfast::keras::activations {

using Function = Tensor (*)(const Tensor&);
HOLDFAST_API const std::vector<std::pair<std::string, Function>>& all();
/// Null where there is none of that name.
HOLDFAST_API Ref<Activation> find(const std::string& name);

}  // namespace holdfast::keras::activations
