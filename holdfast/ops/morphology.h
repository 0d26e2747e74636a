// Dilation and erosion of images: the largest sum, or the least difference, of a window and a
// structuring element.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::nn {

/// max over (dy, dx) of input[b, y * stride + dy * rate, x * stride + dx * rate, c] +
/// filters[dy, dx, c]. Cells that padding adds do not count.
HOLDFAST_API Tensor dilation2d(const In& input, const In& filters, const Sizes& strides,
                               const std::string& padding, const std::string& data_format,
                               const Sizes& dilations);
/// min over (dy, dx) of value[b, y * stride + dy * rate, x * stride + dx * rate, c] -
/// filters[dy, dx, c].
HOLDFAST_API Tensor erosion2d(const In& value, const In& filters, const Sizes& strides,
                              const std::string& padding, const std::string& data_format,
                              const Sizes& dilations);

}  // namespace holdfast::nn
