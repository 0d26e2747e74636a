// What layers refuse: numbers that are too small, shapes that they were not built for.
#pragma once

#include <string>

#include "holdfast/keras/layer.h"

namespace holdfast::keras::layers {

/// Refuses a number below `least`.
void need_at_least(int64_t value, int64_t least, const char* option, const std::string& of);

/// Refuses a `quantization_config` that is given.
void refuse_quantized(const char* of, const Config& config);

/// Refuses an input that has not so many axes; `layout` says what they are.
void need_axes(const Layer& layer, const Shape& inputs, int axes, const std::string& layout);
/// Refuses an input whose axis has another size than the layer was built for.
void need_size(const Layer& layer, const Shape& inputs, int axis, int64_t size,
               const std::string& why);
/// The size of an axis that weights are made for; an unknown one is refused.
int64_t known_size(const Layer& layer, const Shape& inputs, int axis, const std::string& why);
/// Refuses a call of a layer whose `build` did not make its first weight.
void need_built(const Layer& layer, const Variable& weight, const char* name);
/// Inputs as a kernel takes them: whole numbers and bools become floats, as in Keras' products.
Tensor as_factor(const Layer& layer, const Tensor& inputs);
/// Where an axis is that may be counted from the end; one that the inputs don't have is refused.
int axis_of(const Layer& layer, const Shape& inputs, int64_t axis);

}  // namespace holdfast::keras::layers
