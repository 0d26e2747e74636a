// Inputs of models: in configs, and what fits them.
#pragma once

#include "holdfast/keras/symbol.h"

namespace holdfast::keras {

/// What a model is given, as Keras' configs have it: an InputLayer.
Config input_config(const Tensor& symbol);
/// The symbol that such a config describes.
Tensor input_from(const ConfigDict& config);

/// Data without a last axis of size 1 too many for an Input of that shape, or with one more: [n]
/// for [n, 1].
Tensor in_rank_of(const Shape& wanted, const Tensor& given);

}  // namespace holdfast::keras
