// Which axes of a weight are inputs and outputs, where the layer knows.
#pragma once

#include <vector>

#include "holdfast/keras/function.h"

namespace holdfast::keras::initializers {

/// The same initializer for a weight whose axes join these inputs and outputs, if it goes by how
/// many there are and was not told which axes they are.
Ref<Initializer> along_axes(const Ref<Initializer>& given, const std::vector<int64_t>& inputs,
                            const std::vector<int64_t>& outputs);

}  // namespace holdfast::keras::initializers
