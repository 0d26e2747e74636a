// What functions of images ask of their arguments.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::image {

/// The number of axes of an image [height, width, channels], or of a batch of such; refuses others.
int need_images(const char* function, const Tensor& images, const char* argument = "images");
/// Takes what has no known number of axes for one image, as TensorFlow does: another is refused
/// when the graph runs.
Tensor one_if_unknown(const Tensor& images);
/// Sizes as int32, which is what ops over images take; refuses numbers that are too large for it.
Tensor need_int32(const char* function, const char* argument, const Sizes& sizes);
/// Refuses pixels that are neither integers nor floats.
void need_reals(const char* function, const Tensor& images);
/// What a function asks of a tensor: its number of axes, and the size of the last one.
struct Wanted {
  const char* function;
  const char* argument = "images";
  int64_t least = 1, most = kMaxRank, channels = kUnknown;
};
/// The tensor, which is as `Wanted` says, or is refused: when the graph runs, where only that
/// knows.
[[nodiscard]] Tensor need(const Tensor& images, const Wanted&);
/// The same for a number of channels.
[[nodiscard]] inline Tensor need_channels(const char* function, const Tensor& images,
                                          int64_t channels) {
  return need(images, {.function = function, .channels = channels});
}

}  // namespace holdfast::image
