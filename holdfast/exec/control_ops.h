// The ops behind branches and loops.
#pragma once

#include "holdfast/graph/bodies.h"
#include "holdfast/op/op.h"

namespace holdfast {

/// If(cond, captures of then..., captures of else...), by BranchAttrs.
const OpDef& if_op(bool stateful);
/// While(variables..., captures of cond..., captures of body...), by LoopAttrs.
const OpDef& while_op(bool stateful);

/// Whether something in it must run, in order, whoever needs its results.
bool has_effects(const Graph&);

/// What both types cover: dimensions that differ are unknown.
Shape widened(const Shape& a, const Shape& b);

/// Gradients; they add outputs to the op they are asked of, so that it keeps what they need.
Tensors if_gradient(Grad&);
Tensors while_gradient(Grad&);

}  // namespace holdfast
