// Where a value that a program writes down lives.
#pragma once

#include "holdfast/tensor/tensor.h"

namespace holdfast {

/// The value on the device that a scope asks for. Texts and a few integers stay on the host: they
/// are mostly shapes, axes and indices, which ops read there.
HOLDFAST_API Tensor on_asked_device(const Tensor& value);

}  // namespace holdfast
