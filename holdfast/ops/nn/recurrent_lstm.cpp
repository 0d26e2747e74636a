// LSTM over whole sequences: forward, its gradient, and what the gradient's gradient is made of.
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn/recurrent_run.h"
#include "holdfast/ops/recurrent.h"

namespace holdfast {
namespace {

using namespace recurrent;

// Inputs: x, recurrent, first_h, first_c, mask. Outputs: gates, h, c, last_h, last_c. The gates may
// lie where `x` was: of each step and unit it is read before they are written.
void infer_forward(Infer& s) {
  SequenceSizes z = sequence_sizes(s, 0, 4, 1, 4);
  need_shape(s, 2, z.state());
  need_shape(s, 3, z.state());
  need_shape(s, 4, {z.batch, z.steps});
  for (const Shape& out : {z.each(4), z.each(), z.each(), z.state(), z.state()})
    s.output(s.dtype(), out);
}

Status run_forward(Call& c) {
  LstmForward f;
  Tensor weights = packed_gates(c, c.in(1), 4);
  f.steps = c.in(0).dim(1);
  f.units = c.in(1).dim(0);
  f.weights = weights.raw();
  f.x = c.in(0).raw();
  f.h0 = c.in(2).raw();
  f.c0 = c.in(3).raw();
  f.mask = mask_of(c, 4);
  f.gates = c.out(0).mutable_raw();
  f.h = c.out(1).mutable_raw();
  f.c = c.out(2).mutable_raw();
  run_parts(f, loops_for(c.in(0).dtype()).lstm_forward, c.in(0).dim(0), 4);
  copy_last(c.out(1), c.in(2), c.out(3));
  copy_last(c.out(2), c.in(3), c.out(4));
  return {};
}

// Inputs: recurrent, first_h, first_c, mask, h, c, gates, then what arrives for each output of the
// forward op, if anything does. Outputs: for x, recurrent, first_h, first_c.
void infer_backward(Infer& s) {
  SequenceSizes z = sequence_sizes(s, 6, 4, 0, 4);
  need_shape(s, 1, z.state());
  need_shape(s, 2, z.state());
  need_shape(s, 3, {z.batch, z.steps});
  need_shape(s, 4, z.each());
  need_shape(s, 5, z.each());
  need_shape(s, 7, z.each());
  need_shape(s, 8, z.each());
  need_shape(s, 9, z.each(4));
  need_shape(s, 10, z.state());
  need_shape(s, 11, z.state());
  for (const Shape& out : {z.each(4), z.weights(), z.state(), z.state()}) s.output(s.dtype(), out);
}

Status run_backward(Call& c) {
  LstmBackward b;
  const Tensor &recurrent = c.in(0), &gates = c.in(6);
  Tensor weights = packed_transposed(c, recurrent), dx = c.out(0);
  b.steps = gates.dim(1);
  b.units = recurrent.dim(0);
  b.weights = weights.raw();
  b.c0 = c.in(2).raw();
  b.mask = mask_of(c, 3);
  b.c = c.in(5).raw();
  b.gates = gates.raw();
  b.dh = raw_of(c, 7);
  b.dc = raw_of(c, 8);
  b.dgates = raw_of(c, 9);
  b.dx = dx.mutable_raw();
  copy_or_zero(given(c, 10), c.out(2));
  copy_or_zero(given(c, 11), c.out(3));
  b.h_sum = c.out(2).mutable_raw();
  b.c_sum = c.out(3).mutable_raw();
  int64_t batch = gates.dim(0);
  run_parts(b, loops_for(gates.dtype()).lstm_backward, batch, 4, true);
  return sum_of_products(states_before(c, c.in(1), c.in(4)), dx, batch * b.steps, c.out(1));
}

// Inputs: recurrent, first_c, mask, c, gates, what arrived for h, c, last_h, last_c; then changes:
// of x, first_h, first_c. Outputs: all that arrived for each h and c, and how these change.
void infer_second(Infer& s) {
  SequenceSizes z = sequence_sizes(s, 4, 4, 0, 4);
  need_shape(s, 1, z.state());
  need_shape(s, 2, {z.batch, z.steps});
  need_shape(s, 3, z.each());
  need_shape(s, 5, z.each());
  need_shape(s, 6, z.each());
  need_shape(s, 7, z.state());
  need_shape(s, 8, z.state());
  need_shape(s, 9, z.each(4));
  need_shape(s, 10, z.state());
  need_shape(s, 11, z.state());
  for (int i = 0; i < 4; ++i) s.output(s.dtype(), z.each());
}

Status run_second(Call& c) {
  const Tensor &recurrent = c.in(0), &gates = c.in(4);
  const Loops& loops = loops_for(gates.dtype());
  int64_t batch = gates.dim(0);
  Tensor transposed = packed_transposed(c, recurrent), weights = packed_gates(c, recurrent, 4);
  Tensor dx = c.scratch(gates.dtype(), gates.shape()),
         h_sum = c.scratch(gates.dtype(), c.in(1).shape()),
         c_sum = c.scratch(gates.dtype(), c.in(1).shape());
  copy_or_zero(given(c, 7), h_sum);
  copy_or_zero(given(c, 8), c_sum);
  LstmBackward b;
  b.steps = gates.dim(1);
  b.units = recurrent.dim(0);
  b.weights = transposed.raw();
  b.c0 = c.in(1).raw();
  b.mask = mask_of(c, 2);
  b.c = c.in(3).raw();
  b.gates = gates.raw();
  b.dh = raw_of(c, 5);
  b.dc = raw_of(c, 6);
  b.dx = dx.mutable_raw();
  b.h_sum = h_sum.mutable_raw();
  b.c_sum = c_sum.mutable_raw();
  b.dh_all = c.out(0).mutable_raw();
  b.dc_all = c.out(1).mutable_raw();
  run_parts(b, loops.lstm_backward, batch, 4, true);
  LstmTangent t;
  t.steps = b.steps;
  t.units = b.units;
  t.weights = weights.raw();
  t.mask = b.mask;
  t.gates = b.gates;
  t.c = b.c;
  t.first_c = b.c0;
  t.tx = c.in(9).raw();
  t.h0 = c.in(10).raw();
  t.c0 = c.in(11).raw();
  t.th = c.out(2).mutable_raw();
  t.tc = c.out(3).mutable_raw();
  run_parts(t, loops.lstm_tangent, batch, 4);
  return {};
}

}  // namespace

static const Op second_op =
    RAW_OP(LSTMSequenceSecond)
        .inputs(
            "recurrent, first_c, mask: M?, c, gates, h_backprop?, c_backprop?, last_h_backprop?, "
            "last_c_backprop?, x_change, first_h_change, first_c_change")
        .outputs("h_arrived, c_arrived, h_change, c_change")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc("What second derivatives of an LSTM over sequences are made of.")
        .infer(infer_second)
        .kernel("sequence", run_second)
        .gradient(+[](Grad&) -> Tensors { refuse_third("an LSTM"); });

// The gradient's gradient. Backwards, with a = what arrives for the sums of the gates,
//   D[t] = dh[t] + a[t+1] R', e[t] = dc[t] + D[t] o (1 - s^2) + e[t+1] f[t+1],  s = tanh(c),
//   a = (e g i(1-i), e c' f(1-f), e i (1-g^2), D s o(1-o)),  dR = sum of h' a,
// where h', c' are the states before the step. What arrives for a is `l`; D and e then get what
// the forward run's tangents m and n are when x changes by l.
static Tensors backward_gradient(Grad& g) {
  if (g.has_x(9)) refuse_third("an LSTM");
  const Tensor &recurrent = g.x(0), &first_h = g.x(1), &first_c = g.x(2), &h = g.x(4), &c = g.x(5),
               &gates = g.x(6), &a = g.y(0);
  Tensor mask = given(g, 3), weights = g.dy(1), m0 = g.dy(2), n0 = g.dy(3);
  Tensor before_h = shifted_in(first_h, h), before_c = shifted_in(first_c, c);
  Tensor change = g.dy(0) + matmul(before_h, weights);
  Tensors made = second_op.list({recurrent, first_c, mask, c, gates, given(g, 7), given(g, 8),
                                 given(g, 10), given(g, 11), change, m0, n0});
  const Tensor &D = made[0], &e = made[1], &m = made[2], &n = made[3];
  Tensor before_m = shifted_in(m0, m), before_n = shifted_in(n0, n);
  Tensors l = split(where_moving(mask, change + matmul(before_m, recurrent)), 4, {.axis = 2}),
          gate = split(gates, 4, {.axis = 2});
  const Tensor &i = gate[0], &f = gate[1], &k = gate[2], &o = gate[3];
  Tensor s = tanh(c), di = i * (1 - i), df = f * (1 - f), dk = 1 - k * k, dout = o * (1 - o),
         ds = 1 - s * s;
  Tensor to_gates = concat(
      {e * (l[0] * k * (1 - 2 * i) + l[2] * dk), e * (l[1] * before_c * (1 - 2 * f) + before_n),
       e * (l[0] * di - 2 * l[2] * i * k), D * (l[3] * s * (1 - 2 * o) + n * ds)},
      2);
  Tensor to_c = where_moving(mask, D * (l[3] * dout - 2 * n * o * s) * ds);
  ShiftedBack from_c = shifted_back(e * l[1] * df),
              from_h = shifted_back(matmul(a, weights, {.transpose_b = true}));
  Tensor units = at(shape(recurrent), 0);
  Tensor to_recurrent = matmul(reshape(before_m, Sizes(stack({-1, units}))),
                               reshape(a, Sizes(stack({-1, 4 * units}))), {.transpose_a = true});
  return {to_recurrent,
          from_h.first,
          from_c.first,
          Tensor(),
          from_h.states,
          to_c + from_c.states,
          where_moving(mask, to_gates),
          g.has_x(7) ? m : Tensor(),
          g.has_x(8) ? n : Tensor(),
          Tensor(),
          g.has_x(10) ? last_change(m0, m) : Tensor(),
          g.has_x(11) ? last_change(n0, n) : Tensor()};
}

static const Op backward_op =
    RAW_OP(LSTMSequenceGrad)
        .inputs(
            "recurrent, first_h, first_c, mask: M?, h, c, gates, h_backprop?, c_backprop?, "
            "gates_backprop?, last_h_backprop?, last_c_backprop?")
        .outputs("x_backprop, recurrent_backprop, first_h_backprop, first_c_backprop")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc("Gradients of an LSTM over sequences.")
        .infer(infer_backward)
        .kernel("sequence", run_backward)
        .gradient(backward_gradient);

static const Op forward_op =
    RAW_OP(LSTMSequence)
        .inputs("x, recurrent, first_h, first_c, mask: M?")
        .outputs("gates, h, c, last_h, last_c")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc(
            "LSTM with sigmoid and tanh over sequences: gates i, f, c, o of `x`, which is "
            "[batch, time, 4 units], plus the state times `recurrent`.")
        .infer(infer_forward)
        .kernel("sequence", run_forward)
        .gradient(+[](Grad& g) -> Tensors {
          Tensors d = backward_op.list({g.x(1), g.x(2), g.x(3), given(g, 4), g.y(1), g.y(2), g.y(0),
                                        arrived(g, 1), arrived(g, 2), arrived(g, 0), arrived(g, 3),
                                        arrived(g, 4)});
          if (g.inputs() > 4) d.push_back(Tensor());
          return d;
        })
        .keeps("recurrent, first_h, first_c, mask, gates, h, c")
        .overwrites(+[](const OpDef&, const Attrs&) { return 0; });

nn::Recurred nn::lstm_sequence(const Tensor& x, const Tensor& recurrent, const Tensor& h,
                               const Tensor& c, const Tensor& mask) {
  Tensors out = forward_op.list({x, recurrent, h, c, mask});
  return {out[1], {out[3], out[4]}};
}

}  // namespace holdfast
