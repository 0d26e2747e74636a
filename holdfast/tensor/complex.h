// Complex numbers, for code that computes with them. What only names dtypes does not read
// <complex>.
#pragma once

#include <complex>

namespace holdfast {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

}  // namespace holdfast
