// What is said of a layer that gets another shape than it was built for.
#pragma once

#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/layer.h"

namespace holdfast::keras {

/// Throws E1201 in place of what an op inside a layer's call refused, where the layer was built for
/// other shapes than it got; else returns.
HOLDFAST_API void refuse_other_shapes(const Layer& layer, const Nested& got, const Error& said);
/// The same for one input of a model, which says itself what it expects; `born`: its Input's line.
[[noreturn]] void refuse_input(const Layer& model, const std::string& input, const Shape& expected,
                               const Shape& got, Where born);

}  // namespace holdfast::keras
