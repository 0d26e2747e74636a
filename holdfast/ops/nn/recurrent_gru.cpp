// GRU over whole sequences, the reset gate after the product: forward, its gradient, and what the
// gradient's gradient is made of.
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/fold.h"
#include "holdfast/ops/nn/recurrent_run.h"
#include "holdfast/ops/recurrent.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

using namespace recurrent;

// Inputs: x, recurrent, bias, first_h, mask. Outputs: h, gates, last_h.
void infer_forward(Infer& s) {
  SequenceSizes z = sequence_sizes(s, 0, 3, 1, 3);
  need_shape(s, 2, {z.times(3)});
  need_shape(s, 3, z.state());
  need_shape(s, 4, {z.batch, z.steps});
  for (const Shape& out : {z.each(), z.each(4), z.state()}) s.output(s.dtype(), out);
}

Status run_forward(Call& c) {
  GruForward f;
  Tensor weights = packed_gates(c, c.in(1), 3);
  f.steps = c.in(0).dim(1);
  f.units = c.in(1).dim(0);
  f.weights = weights.raw();
  f.x = c.in(0).raw();
  f.bias = raw_of(c, 2);
  f.h0 = c.in(3).raw();
  f.mask = mask_of(c, 4);
  f.h = c.out(0).mutable_raw();
  f.gates = c.out(1).mutable_raw();
  run_parts(f, loops_for(c.in(0).dtype()).gru_forward, c.in(0).dim(0), 3);
  copy_last(c.out(0), c.in(3), c.out(2));
  return {};
}

// Inputs: recurrent, first_h, mask, h, gates, then what arrives for h, gates, last_h, if anything
// does. Outputs: for x, recurrent, bias, first_h.
void infer_backward(Infer& s) {
  SequenceSizes z = sequence_sizes(s, 4, 4, 0, 3);
  need_shape(s, 1, z.state());
  need_shape(s, 2, {z.batch, z.steps});
  need_shape(s, 3, z.each());
  need_shape(s, 5, z.each());
  need_shape(s, 6, z.each(4));
  need_shape(s, 7, z.state());
  for (const Shape& out : {z.each(3), z.weights(), Shape{z.times(3)}, z.state()})
    s.output(s.dtype(), out);
}

Status run_backward(Call& c) {
  GruBackward b;
  const Tensor &recurrent = c.in(0), &gates = c.in(4);
  int64_t batch = gates.dim(0), steps = gates.dim(1), units = recurrent.dim(0);
  Tensor weights = packed_transposed(c, recurrent);
  Tensor inner = c.scratch(gates.dtype(), {batch * steps, 3 * units});
  b.steps = steps;
  b.units = units;
  b.weights = weights.raw();
  b.h0 = c.in(1).raw();
  b.mask = mask_of(c, 2);
  b.h = c.in(3).raw();
  b.gates = gates.raw();
  b.dh = raw_of(c, 5);
  b.dgates = raw_of(c, 6);
  b.dx = c.out(0).mutable_raw();
  b.dinner = inner.mutable_raw();
  copy_or_zero(given(c, 7), c.out(3));
  b.h_sum = c.out(3).mutable_raw();
  run_parts(b, loops_for(gates.dtype()).gru_backward, batch, 3, true);
  if (inner.size() == 0) {
    copy_or_zero({}, c.out(2));
  } else {
    int64_t axis = 0;
    fold(Fold::kSum, inner, {&axis, 1}, c.out(2));
  }
  return sum_of_products(states_before(c, c.in(1), c.in(3)), inner, batch * steps, c.out(1));
}

// Inputs: recurrent, first_h, mask, h, gates, what arrived for h, last_h; then changes: of x, of
// the state's product, of first_h. Outputs: all that arrived for each h, and how it changes.
void infer_second(Infer& s) {
  SequenceSizes z = sequence_sizes(s, 4, 4, 0, 3);
  need_shape(s, 1, z.state());
  need_shape(s, 2, {z.batch, z.steps});
  need_shape(s, 3, z.each());
  need_shape(s, 5, z.each());
  need_shape(s, 6, z.state());
  need_shape(s, 7, z.each(3));
  need_shape(s, 8, z.each(3));
  need_shape(s, 9, z.state());
  s.output(s.dtype(), z.each());
  s.output(s.dtype(), z.each());
}

Status run_second(Call& c) {
  const Tensor &recurrent = c.in(0), &gates = c.in(4);
  const Loops& loops = loops_for(gates.dtype());
  int64_t batch = gates.dim(0), steps = gates.dim(1), units = recurrent.dim(0);
  Tensor transposed = packed_transposed(c, recurrent), weights = packed_gates(c, recurrent, 3);
  Tensor dx = c.scratch(gates.dtype(), {batch, steps, 3 * units}),
         inner = c.scratch(gates.dtype(), {batch, steps, 3 * units}),
         h_sum = c.scratch(gates.dtype(), {batch, units});
  copy_or_zero(given(c, 6), h_sum);
  GruBackward b;
  b.steps = steps;
  b.units = units;
  b.weights = transposed.raw();
  b.h0 = c.in(1).raw();
  b.mask = mask_of(c, 2);
  b.h = c.in(3).raw();
  b.gates = gates.raw();
  b.dh = raw_of(c, 5);
  b.dx = dx.mutable_raw();
  b.dinner = inner.mutable_raw();
  b.h_sum = h_sum.mutable_raw();
  b.dh_all = c.out(0).mutable_raw();
  run_parts(b, loops.gru_backward, batch, 3, true);
  GruTangent t;
  t.steps = steps;
  t.units = units;
  t.weights = weights.raw();
  t.mask = b.mask;
  t.gates = b.gates;
  t.h = b.h;
  t.first_h = b.h0;
  t.tx = c.in(7).raw();
  t.tinner = c.in(8).raw();
  t.h0 = c.in(9).raw();
  t.th = c.out(1).mutable_raw();
  run_parts(t, loops.gru_tangent, batch, 3);
  return {};
}

}  // namespace

static const Op second_op =
    RAW_OP(GRUSequenceSecond)
        .inputs(
            "recurrent, first_h, mask: M?, h, gates, h_backprop?, last_h_backprop?, x_change, "
            "inner_change, first_h_change")
        .outputs("h_arrived, h_change")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc("What second derivatives of a GRU over sequences are made of.")
        .infer(infer_second)
        .kernel("sequence", run_second)
        .gradient(+[](Grad&) -> Tensors { refuse_third("a GRU"); });

// The gradient's gradient. Backwards, with D = all that arrives for a step's h, q the product of
// the state that r is multiplied with, h' the state before the step,
//   dz = D (h'-n) z(1-z), dn = D (1-z)(1-n^2), dr = dn q r(1-r), dq = dn r,
//   inner = (dz, dr, dq), D[t-1] = dh[t-1] + D z + inner R', dR = sum of h' inner.
// What arrives for dz, dr, dn is `a`, `b`, `k`; D then gets what the forward run's tangent is.
static Tensors backward_gradient(Grad& g) {
  if (g.has_x(6)) refuse_third("a GRU");
  const Tensor &recurrent = g.x(0), &first_h = g.x(1), &h = g.x(3), &gates = g.x(4);
  Tensor mask = given(g, 2), x_change = g.dy(0), weights = g.dy(1), m0 = g.dy(3);
  Tensor before_h = shifted_in(first_h, h), inner_change = matmul(before_h, weights) + g.dy(2);
  Tensors made = second_op.list(
      {recurrent, first_h, mask, h, gates, given(g, 5), given(g, 7), x_change, inner_change, m0});
  const Tensor &D = made[0], &m = made[1];
  Tensor before_m = shifted_in(m0, m);
  Tensors l = split(where_moving(mask, inner_change + matmul(before_m, recurrent)), 3, {.axis = 2}),
          v = split(where_moving(mask, x_change), 3, {.axis = 2}),
          gate = split(gates, 4, {.axis = 2}), dx = split(g.y(0), 3, {.axis = 2});
  const Tensor &z = gate[0], &r = gate[1], &n = gate[2], &q = gate[3], &dn = dx[2];
  Tensor sz = z * (1 - z), sr = r * (1 - r), sn = 1 - n * n;
  Tensor a = v[0] + l[0], b = v[1] + l[1], k = v[2] + l[2] * r + b * q * sr;
  Tensor to_gates =
      concat({D * (a * (before_h - n) * (1 - 2 * z) - k * sn + before_m),
              dn * (b * q * (1 - 2 * r) + l[2]), -D * (a * sz + 2 * k * (1 - z) * n), b * dn * sr},
             2);
  Tensor inner = concat({dx[0], dx[1], dn * r}, 2);
  ShiftedBack from_h = shifted_back(a * D * sz + matmul(inner, weights, {.transpose_b = true}));
  Tensor units = at(shape(recurrent), 0);
  Tensor to_recurrent =
      matmul(reshape(before_m, Sizes(stack({-1, units}))),
             reshape(inner, Sizes(stack({-1, 3 * units}))), {.transpose_a = true});
  return {to_recurrent,
          from_h.first,
          Tensor(),
          from_h.states,
          where_moving(mask, to_gates),
          g.has_x(5) ? m : Tensor(),
          Tensor(),
          g.has_x(7) ? last_change(m0, m) : Tensor()};
}

static const Op backward_op =
    RAW_OP(GRUSequenceGrad)
        .inputs(
            "recurrent, first_h, mask: M?, h, gates, h_backprop?, gates_backprop?, "
            "last_h_backprop?")
        .outputs("x_backprop, recurrent_backprop, bias_backprop, first_h_backprop")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc("Gradients of a GRU over sequences.")
        .infer(infer_backward)
        .kernel("sequence", run_backward)
        .gradient(backward_gradient);

static const Op forward_op =
    RAW_OP(GRUSequence)
        .inputs("x, recurrent, bias?, first_h, mask: M?")
        .outputs("h, gates, last_h")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc(
            "GRU with sigmoid and tanh over sequences: gates z, r, h of `x`, which is "
            "[batch, time, 3 units], and of the state times `recurrent` plus `bias`.")
        .infer(infer_forward)
        .kernel("sequence", run_forward)
        .gradient(+[](Grad& g) -> Tensors {
          Tensors d = backward_op.list({g.x(1), g.x(3), given(g, 4), g.y(0), g.y(1), arrived(g, 0),
                                        arrived(g, 1), arrived(g, 2)});
          if (!g.has_x(2)) d[2] = Tensor();
          if (g.inputs() > 4) d.push_back(Tensor());
          return d;
        })
        .keeps("recurrent, first_h, mask, h, gates");

nn::Recurred nn::gru_sequence(const Tensor& x, const Tensor& recurrent,
                              const Tensor& recurrent_bias, const Tensor& h, const Tensor& mask) {
  Tensors out = forward_op.list({x, recurrent, recurrent_bias, h, mask});
  return {out[0], {out[2]}};
}

}  // namespace holdfast
