// An elementwise Expr as CUDA source. Knows no CUDA: text from a description.
#pragma once

#include <string>

#include "holdfast/tensor/dtype.h"

namespace holdfast::cuda {

inline constexpr int kMostOperands = 3;
inline constexpr int kThreads = 256;  // a block
inline constexpr int kMostAxes = 16;  // of a strided operand, after joining

/// How a kernel reads an operand.
enum class Access : uint8_t {
  kDense,    // element i of n, in order
  kStrided,  // by axes and strides; broadcast = stride 0
  kUniform,  // one element on the device
  kValue,    // one number, handed over with the launch
};

/// Everything that shapes the source; two equal ones are one kernel.
struct ExprSpec {
  const char* expression = nullptr;  // over x, y, z and T
  int operands = 0;
  Access access[kMostOperands] = {};
  DType dtypes[kMostOperands] = {};
  DType out = DType::kInvalid;
  int axes = 0;       // 0: no operand is strided
  bool wide = false;  // more than 2^31 elements
  int vector = 1;     // elements a load takes, where all is dense
  int unroll = 1;     // loads in flight

  bool operator==(const ExprSpec&) const = default;
};

/// What a kernel takes for strided operands, 32-bit: sizes from the inside out as multiplier and
/// shift (division by multiplication), then strides of the operands that are strided.
struct Axes32 {
  uint32_t size[kMostAxes], multiply[kMostAxes], shift[kMostAxes];
  uint32_t stride[kMostOperands][kMostAxes];
};
struct Axes64 {
  uint64_t size[kMostAxes];
  uint64_t stride[kMostOperands][kMostAxes];
};

/// The kernel `expr(operand..., O* out, Index n[, Axes])`.
std::string print_source(const ExprSpec&);
/// What a value operand of `d` is handed over as: float for the 16-bit floats, itself otherwise.
DType computed_in(DType d);

}  // namespace holdfast::cuda
