// The ops behind branches and loops.
#pragma once

#include "holdfast/graph/graph.h"
#include "holdfast/op/op.h"

namespace holdfast {

/// If(cond, captures of then..., captures of else...): attributes then_branch, else_branch.
const OpDef& if_op(bool stateful);
/// While(variables..., captures of cond..., captures of body...): attributes cond, body.
const OpDef& while_op(bool stateful);

inline Graph& body_of(const Node& n, int attr) {
  return *static_cast<Graph*>(n.attrs[static_cast<size_t>(attr)].object());
}
inline Graph& body_of(const Arg& a) { return *static_cast<Graph*>(a.object()); }

/// Whether something in it must run, in order, whoever needs its results.
bool has_effects(const Graph&);

/// What both types cover: dimensions that differ are unknown.
Shape widened(const Shape& a, const Shape& b);

/// Gradients; they add outputs to the op they are asked of, so that it keeps what they need.
Tensors if_gradient(Grad&);
Tensors while_gradient(Grad&);

}  // namespace holdfast
