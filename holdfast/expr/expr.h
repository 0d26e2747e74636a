// Elementwise code: scalar instructions over strided loads.
#pragma once

#include "holdfast/op/opdef.h"

namespace holdfast {

/// The instructions of scalar_ops.def.
enum class Scalar : uint8_t {
#define HOLDFAST_SCALAR(id, arity, types, result, ...) k##id,
#include "holdfast/expr/scalar_ops.def"
#undef HOLDFAST_SCALAR
};
inline constexpr int kNumScalars = 0
#define HOLDFAST_SCALAR(id, arity, types, result, ...) +1
#include "holdfast/expr/scalar_ops.def"
#undef HOLDFAST_SCALAR
    ;

struct ScalarInfo {
  const char* name;
  int arity;
  bool boolean;            // the result is bool, whatever the operands are
  const char* expression;  // over x, y, z, as CUDA compiles it
};
HOLDFAST_API const ScalarInfo& info(Scalar);

/// Shape rule of elementwise ops: everything broadcasts.
HOLDFAST_API void infer_elementwise(Infer&);
/// CPU kernel of elementwise ops.
HOLDFAST_API Status run_elementwise(Call&);

/// The loop of this machine's best instruction set; null where the dtype is not computed.
HOLDFAST_API Loop loop_for(Scalar, DType);
/// The loop that converts; null unless both are plain.
HOLDFAST_API Loop cast_loop(DType from, DType to);
/// "avx512", "avx2" or "baseline".
HOLDFAST_API const char* instruction_set();

/// Up to three operands, broadcast against each other into `out`, on the CPU.
HOLDFAST_API void run_broadcast(Loop, std::span<const Tensor> in, const Tensor& out);

}  // namespace holdfast
