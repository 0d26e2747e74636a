// What functions of images ask of their arguments.
#pragma once

#include "holdfast/tensor/tensor.h"

namespace holdfast::image {

/// The number of axes of an image [height, width, channels], or of a batch of such; refuses others.
int need_images(const char* function, const Tensor& images, const char* argument = "images");
/// Refuses pixels that are neither integers nor floats.
void need_reals(const char* function, const Tensor& images);
/// Refuses tensors whose last axis has another number of channels.
void need_channels(const char* function, const Tensor& images, int64_t channels);

}  // namespace holdfast::image
