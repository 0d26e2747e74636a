// From the arguments of public functions to those of raw ops.
#pragma once

#include "holdfast/ops/nn/window.h"

namespace holdfast::nn {

/// Attributes of a convolution over `axes` axes; one over a single axis runs as one over two, the
/// first of size 1.
Attrs conv_attrs(const char* function, int axes, bool channels_first, const Ints& strides,
                 const Padding& padding, const Ints& dilations);
/// `t` with an axis of size 1 put in, or taken out.
Tensor insert_axis(const Tensor& t, int axis);
Tensor remove_axis(const Tensor& t, int axis);
/// Refuses tensors of too small a rank before axes are counted from their end.
void need_rank(const char* function, const char* argument, const Tensor& t, int low, int high = -1);

}  // namespace holdfast::nn
