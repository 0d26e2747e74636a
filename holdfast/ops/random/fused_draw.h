// Elementwise code over random numbers that are drawn inside of its loop, a block at a time.
#pragma once

#include "holdfast/expr/fused.h"
#include "holdfast/ops/random/philox.h"

namespace holdfast::random {

/// What is drawn; a block of it can be drawn without those before it.
enum class Numbers : uint8_t { kUniform, kNormal };

/// How an op that draws is taken apart: into where its numbers begin in their stream, and the
/// numbers.
struct InsideLoops {
  const OpDef* stream;          // gives where they begin: uint64[3]
  InlineVector<int, 3> inputs;  // those of the op that `stream` takes
  size_t attrs;                 // as many of its first attributes
  Numbers numbers;
};
/// Said by an op that draws, beside it.
struct DrawnInsideLoops {
  DrawnInsideLoops(const OpDef& op, InsideLoops how);
};
/// What an op said; null for others.
HOLDFAST_API const InsideLoops* inside_loops(const OpDef& op);

/// Writes down where a generator stands: what `stream` gives.
void store_stream(const Philox& gen, const Tensor& out);

/// An expression one input of which is where numbers begin in their stream: it is drawn while the
/// loop runs. The expression has no rows, and its outputs have the shape of what is drawn.
HOLDFAST_API const OpDef& fused_draw_op();
HOLDFAST_API Attrs fused_draw_attrs(Ref<Expr> expression, size_t position, Numbers numbers,
                                    const Shape& shape);

}  // namespace holdfast::random
