// Images.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::image {

struct RandomCropOptions {
  std::optional<int64_t> seed = {};
};
/// A part of `value` of the given size, at a random place; any number of axes.
HOLDFAST_API Tensor random_crop(const In& value, const In& size, const RandomCropOptions& = {});
/// Likewise, as a pure function of `seed`, two integers.
HOLDFAST_API Tensor stateless_random_crop(const In& value, const In& size, const In& seed);

}  // namespace holdfast::image
