// Models that are put together, trained and fed in ways that can't work.
#include "programs.h"

namespace holdfast {
namespace {

// clang-format off
#include "E0201_keras_call.cpp"
#include "E1102_keras_lengths.cpp"
#include "E0301_keras_input.cpp"
#include "E1104_keras_not_compiled.cpp"
#include "E1201_keras_shape.cpp"
#include "E1202_keras_labels.cpp"
#include "E1202_keras_sparse_labels.cpp"
#include "E1203_keras_optimizer.cpp"
#include "W1204_keras_nan.cpp"
#include "W1403_keras_ended.cpp"
// clang-format on

}  // namespace
}  // namespace holdfast
