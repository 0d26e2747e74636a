// Values that do not fit, and gradients that are not there.
#include "programs.h"

namespace holdfast {
namespace {

// clang-format off
#include "E1101_dtypes.cpp"
#include "E1101_read.cpp"
#include "E1101_variable.cpp"
#include "E1102_broadcast.cpp"
#include "E1102_concat.cpp"
#include "E1102_in_function.cpp"
#include "E1102_item.cpp"
#include "E1102_matmul.cpp"
#include "E1103_number.cpp"
#include "E1104_argument.cpp"
#include "E1104_undefined.cpp"
#include "W0502_cut.cpp"
#include "W0502_ended.cpp"
#include "W0502_integer.cpp"
#include "W0502_no_path.cpp"
#include "W0502_unwatched.cpp"
// clang-format on

}  // namespace
}  // namespace holdfast
