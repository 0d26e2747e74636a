// Values as people read them.
#pragma once

#include <string>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

/// As `print` shows it: `[[1 2.5] [3 4]]`, the middle of an axis left out beyond `summarize`
/// elements at each end; all are shown if that is negative.
std::string printed_text(const Tensor&, int64_t summarize);
/// As NumPy shows an array: `[1.  2.5]`, in columns, with `ends` elements at each end of an axis;
/// all if that is negative, but of more than a thousand three.
std::string array_text(const Tensor&, int64_t ends = -1);
/// As NumPy shows a number: the element at this place of the rows put one after the other.
std::string element_text(const Tensor&, int64_t place);

}  // namespace holdfast
