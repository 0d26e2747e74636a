// Inputs of models in configs.
#pragma once

#include "holdfast/keras/symbol.h"

namespace holdfast::keras {

/// What a model is given, as Keras' configs have it: an InputLayer.
Config input_config(const Tensor& symbol);
/// The symbol that such a config describes.
Tensor input_from(const ConfigDict& config);

}  // namespace holdfast::keras
