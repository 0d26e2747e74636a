// Layers that another language builds in a way of its own from what it wrote to a config.
#pragma once

#include "holdfast/keras/layer.h"

namespace holdfast::keras {

/// Told of each layer that was made from a config with a `build_config`, before it is called.
using BuildAgain = void (*)(Layer& layer, const Config& build_config);
HOLDFAST_API void set_build_again(BuildAgain hook);

}  // namespace holdfast::keras
