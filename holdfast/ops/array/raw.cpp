#include "holdfast/ops/array/raw.h"

#include "holdfast/op/op.h"

namespace holdfast::raw {

#define HOLDFAST_RAW(function, Name)          \
  const OpDef& function() {                   \
    static const OpDef& op = *find_op(#Name); \
    return op;                                \
  }
HOLDFAST_RAW(add, AddV2)
HOLDFAST_RAW(gather, GatherV2)
HOLDFAST_RAW(identity, Identity)
HOLDFAST_RAW(maximum, Maximum)
HOLDFAST_RAW(reshape, Reshape)
HOLDFAST_RAW(subtract, Sub)
HOLDFAST_RAW(transpose, Transpose)
HOLDFAST_RAW(zeros_like, ZerosLike)
#undef HOLDFAST_RAW

}  // namespace holdfast::raw
