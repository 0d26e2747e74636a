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

// Inputs: x, recurrent, first_h, first_c, mask, kernel, bias. Outputs: gates, h, c, last_h, last_c.
void infer_forward(Infer& s) {
  SequenceSizes z = input_sizes(s, 0, 5, 1, 4);
  need_shape(s, 2, z.state());
  need_shape(s, 3, z.state());
  need_shape(s, 4, {z.batch, z.steps});
  need_shape(s, 6, {z.times(4)});
  for (const Shape& out : {z.kept(4), z.each(), z.kept(), z.state(), z.state()})
    s.output(s.dtype(), out);
}

Status run_forward(Call& c) {
  LstmForward f;
  Tensor weights = packed_gates(c, given(c, 5), c.in(1), 4);
  f.batch = c.in(0).dim(0);
  f.steps = c.in(0).dim(1);
  f.units = c.in(1).dim(0);
  f.projected = !c.has(5);
  f.size = f.projected ? 0 : c.in(0).dim(2);
  f.weights = weights.raw();
  f.x = c.in(0).raw();
  f.bias = raw_of(c, 6);
  f.h0 = c.in(2).raw();
  f.c0 = c.in(3).raw();
  f.mask = mask_of(c, 4);
  f.gates = c.out(0).mutable_raw();
  f.h = c.out(1).mutable_raw();
  f.c = c.out(2).mutable_raw();
  run_parts(f, loops_for(c.in(0).dtype()).lstm_forward, 4);
  copy_last(c.out(1), c.in(2), c.out(3));
  copy_last_step(c.out(2), c.in(3), c.out(4));
  return {};
}

// What a run backwards reads, and what it makes: gradients of the sums and of the first states.
struct Back {
  Tensor recurrent, first_c, mask, c, gates, dh, dc, dgates, h_sum, c_sum;
};
LstmBackward backward_of(const Back& of) {
  LstmBackward b;
  b.steps = of.gates.dim(0);
  b.batch = of.gates.dim(1);
  b.units = of.recurrent.dim(0);
  b.c0 = of.first_c.raw();
  b.mask = of.mask.defined() ? of.mask.raw<bool>() : nullptr;
  b.c = of.c.raw();
  b.gates = of.gates.raw();
  b.dh = raw_of(of.dh);
  b.dc = raw_of(of.dc);
  b.dgates = raw_of(of.dgates);
  b.h_sum = of.h_sum.mutable_raw();
  b.c_sum = of.c_sum.mutable_raw();
  return b;
}

// Inputs: recurrent, first_h, first_c, mask, h, c, gates, then what arrives for each output of the
// forward op, if anything does, in the order h, c, gates, last_h, last_c; x and kernel, if there is
// a kernel. Outputs: for x, recurrent, first_h, first_c, kernel, bias.
void infer_backward(Infer& s) {
  SequenceSizes z = sequence_sizes(s, 4, 1, 0, 4);
  need_shape(s, 1, z.state());
  need_shape(s, 2, z.state());
  need_shape(s, 3, {z.batch, z.steps});
  need_shape(s, 5, z.kept());
  need_shape(s, 6, z.kept(4));
  need_shape(s, 7, z.each());
  need_shape(s, 8, z.kept());
  need_shape(s, 9, z.kept(4));
  need_shape(s, 10, z.state());
  need_shape(s, 11, z.state());
  InputGradients of = input_gradients(s, z, 12, 13, s.attrs<BackwardAttrs>().x_wanted());
  for (const Shape& out : {of.x, z.weights(), z.state(), z.state(), of.kernel, Shape{z.times(4)}})
    s.output(s.dtype(), out);
}

Status run_backward(Call& c) {
  const Tensor &recurrent = c.in(0), &gates = c.in(6);
  DType dtype = gates.dtype();
  Tensor weights = packed_transposed(c, recurrent, {0, 1, 2, 3}),
         bias_sums = zeroed(c, dtype, {gates.dim(1), gates.dim(2)});
  copy_or_zero(given(c, 10), c.out(2));
  copy_or_zero(given(c, 11), c.out(3));
  LstmBackward b = backward_of({recurrent, c.in(2), given(c, 3), c.in(5), gates, given(c, 7),
                                given(c, 8), given(c, 9), c.out(2), c.out(3)});
  Tensor d = room_for_sums(c, dtype, b);
  b.d = d.mutable_raw();
  b.weights = weights.raw();
  b.bias_sums = bias_sums.mutable_raw();
  run_parts(b, loops_for(dtype).lstm_backward, 4, true);
  sum_rows(bias_sums, c.out(5));
  WeightSums w;
  static_cast<Sequence&>(w) = b;
  w.gates = 4;
  w.h0 = c.in(1).raw();
  w.h = c.in(4).raw();
  w.d = d.raw();
  bool kernel = c.has(13);
  if (kernel) {
    w.size = c.in(12).dim(2);
    w.x = c.in(12).raw();
  }
  for (int g = 0; g < 4; ++g) {
    w.kernel_gate[g] = kernel ? g : -1;
    w.recurrent_gate[g] = g;
  }
  sum_weights(c.out(4), c.out(1), w);
  if (!kernel) {
    copy_sums(b, d, {0, 1, 2, 3}, c.out(0));
  } else if (c.attrs<BackwardAttrs>().x_wanted()) {
    Tensor back = packed_transposed(c, c.in(13), {0, 1, 2, 3});
    InputSums i;
    static_cast<Sequence&>(i) = b;
    i.weights = back.raw();
    i.size = w.size;
    i.gates = 4;
    i.d = d.raw();
    sum_inputs(c.out(0), i);
  } else {
    c.out(0);
  }
  return {};
}

// Inputs: recurrent, first_c, mask, c, gates, what arrived for h, c, last_h, last_c; then changes:
// of the sums, first_h, first_c. Outputs: all that arrived for each h and c, how these change, and
// what arrives for the sums.
void infer_second(Infer& s) {
  SequenceSizes z = sequence_sizes(s, 9, 4, 0, 4);
  need_shape(s, 1, z.state());
  need_shape(s, 2, {z.batch, z.steps});
  need_shape(s, 3, z.kept());
  need_shape(s, 4, z.kept(4));
  need_shape(s, 5, z.each());
  need_shape(s, 6, z.kept());
  need_shape(s, 7, z.state());
  need_shape(s, 8, z.state());
  need_shape(s, 10, z.state());
  need_shape(s, 11, z.state());
  for (int i = 0; i < 4; ++i) s.output(s.dtype(), z.each());
  s.output(s.dtype(), z.each(4));
}

Status run_second(Call& c) {
  const Tensor &recurrent = c.in(0), &gates = c.in(4);
  const Loops& loops = loops_for(gates.dtype());
  Tensor transposed = packed_transposed(c, recurrent, {0, 1, 2, 3}),
         weights = packed_gates(c, {}, recurrent, 4);
  Tensor h_sum = c.scratch(gates.dtype(), c.in(1).shape()),
         c_sum = c.scratch(gates.dtype(), c.in(1).shape());
  copy_or_zero(given(c, 7), h_sum);
  copy_or_zero(given(c, 8), c_sum);
  LstmBackward b = backward_of({recurrent, c.in(1), given(c, 2), c.in(3), gates, given(c, 5),
                                given(c, 6), Tensor(), h_sum, c_sum});
  Tensor d = room_for_sums(c, gates.dtype(), b);
  b.d = d.mutable_raw();
  b.weights = transposed.raw();
  b.dh_all = c.out(0).mutable_raw();
  b.dc_all = c.out(1).mutable_raw();
  run_parts(b, loops.lstm_backward, 4, true);
  LstmTangent t;
  static_cast<Sequence&>(t) = b;
  t.weights = weights.raw();
  t.gates = b.gates;
  t.c = b.c;
  t.first_c = b.c0;
  t.tx = c.in(9).raw();
  t.h0 = c.in(10).raw();
  t.c0 = c.in(11).raw();
  t.th = c.out(2).mutable_raw();
  t.tc = c.out(3).mutable_raw();
  run_parts(t, loops.lstm_tangent, 4);
  copy_sums(b, d, {0, 1, 2, 3}, c.out(4));
  return {};
}

}  // namespace

static Tensors second_gradient(Grad& g);
static const Op second_op =
    RAW_OP(LSTMSequenceSecond)
        .inputs(
            "recurrent, first_c, mask: M?, c, gates, h_backprop?, c_backprop?, last_h_backprop?, "
            "last_c_backprop?, sums_change, first_h_change, first_c_change")
        .outputs("h_arrived, c_arrived, h_change, c_change, sums_backprop")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc("What second derivatives of an LSTM over sequences are made of.")
        .infer(infer_second)
        .kernel("sequence", run_second)
        .gradient(second_gradient);

// The gradient's gradient. Backwards, with a = what arrives for the sums of the gates,
//   D[t] = dh[t] + a[t+1] R', e[t] = dc[t] + D[t] o (1 - s^2) + e[t+1] f[t+1],  s = tanh(c),
//   a = (e g i(1-i), e c' f(1-f), e i (1-g^2), D s o(1-o)),  dR = sum of h' a,
// where h', c' are the states before the step. What arrives for a is `l`; D and e then get what
// the forward run's tangents m and n are when the sums change by l. With a kernel K the gradients
// of x and K are a K' and the sum of x' a, and that of the bias is the sum of a.
static Tensors backward_gradient(Grad& g) {
  bool arrived_only = wants_only(g, 7, 12);
  if (g.has_x(9) && !arrived_only) refuse_third("an LSTM");
  const Tensor &recurrent = g.x(0), &first_h = g.x(1), &first_c = g.x(2), &h = g.x(4);
  Tensor mask = given(g, 3), weights = g.dy(1), m0 = g.dy(2), n0 = g.dy(3), c = turned(g.x(5)),
         gates = turned(g.x(6)), units = at(shape(recurrent), 0);
  Tensor before_h = shifted_in(first_h, h), before_c = shifted_in(first_c, c);
  Tensor change = matmul(before_h, weights) + change_of_sums(g, {12, 13, 0, 4, 5});
  Tensors made = second_op.list({recurrent, first_c, mask, g.x(5), g.x(6), given(g, 7), given(g, 8),
                                 given(g, 10), given(g, 11), change, m0, n0});
  const Tensor &D = made[0], &e = made[1], &m = made[2], &n = made[3], &a = made[4];
  Tensor before_m = shifted_in(m0, m), before_n = shifted_in(n0, n);
  Tensors l = split(where_moving(mask, change + matmul(before_m, recurrent)), 4, {.axis = 2}),
          gate = split(gates, 4, {.axis = 2});
  const Tensor &i = gate[0], &f = gate[1], &k = gate[2], &o = gate[3];
  Tensor s = tanh(c), di = i * (1 - i), df = f * (1 - f), dk = 1 - k * k, dout = o * (1 - o),
         ds = 1 - s * s;
  Tensors out(12);
  if (g.has_x(7)) out[7] = m;
  if (g.has_x(8)) out[8] = turned(n);
  if (g.has_x(9)) out[9] = turned(concat({l[0] * di, l[1] * df, l[2] * dk, l[3] * dout}, 2));
  if (g.has_x(10)) out[10] = last_change(m0, m);
  if (g.has_x(11)) out[11] = last_change(n0, n);
  if (arrived_only) {
    out.resize(static_cast<size_t>(g.inputs()));
    return out;
  }
  Tensor to_gates = concat(
      {e * (l[0] * k * (1 - 2 * i) + l[2] * dk), e * (l[1] * before_c * (1 - 2 * f) + before_n),
       e * (l[0] * di - 2 * l[2] * i * k), D * (l[3] * s * (1 - 2 * o) + n * ds)},
      2);
  Tensor to_c = where_moving(mask, D * (l[3] * dout - 2 * n * o * s) * ds);
  ShiftedBack from_c = shifted_back(e * l[1] * df),
              from_h = shifted_back(matmul(a, weights, {.transpose_b = true}));
  out[0] = sum_of_products(before_m, a);
  out[1] = from_h.first;
  out[2] = from_c.first;
  out[4] = from_h.states;
  out[5] = turned(to_c + from_c.states);
  out[6] = turned(where_moving(mask, to_gates));
  add_input_gradients(g, {12, 13, 0, 4, 5}, a, out);
  return out;
}

static const Op backward_op =
    RAW_OP(LSTMSequenceGrad)
        .inputs(
            "recurrent, first_h, first_c, mask: M?, h, c, gates, h_backprop?, c_backprop?, "
            "gates_backprop?, last_h_backprop?, last_c_backprop?, x?, kernel?")
        .attr("x_wanted", true)
        .attrs<&BackwardAttrs::x_wanted>()
        .outputs(
            "x_backprop, recurrent_backprop, first_h_backprop, first_c_backprop, kernel_backprop, "
            "bias_backprop")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc("Gradients of an LSTM over sequences.")
        .infer(infer_backward)
        .kernel("sequence", run_backward)
        .gradient(backward_gradient);

// The changes of h and c are linear in those of sums and first states, and go back as gradients of
// h and c do. That run reads no h: what it would sum for weights is left.
static Tensors second_gradient(Grad& g) {
  if (!wants_only(g, 9, 12)) refuse_third("an LSTM");
  Tensors out(12);
  if (g.has_dy(2) || g.has_dy(3)) {
    Tensor none, dc = g.has_dy(3) ? turned(g.dy(3)) : none;
    Tensors d = backward_op.list({g.x(0), g.x(10), g.x(1), given(g, 2), g.y(2), g.x(3), g.x(4),
                                  arrived(g, 2), dc, none, none, none, none, none},
                                 {true});
    out[9] = d[0];
    out[10] = d[2];
    out[11] = d[3];
  }
  return out;
}

static const Op forward_op =
    RAW_OP(LSTMSequence)
        .inputs("x, recurrent, first_h, first_c, mask: M?, kernel?, bias?")
        .outputs("gates, h, c, last_h, last_c")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc(
            "LSTM with sigmoid and tanh over sequences: gates i, f, c, o of `x` times `kernel`, "
            "[size, 4 units], plus `bias` plus the state times `recurrent`. Without a kernel `x` "
            "is multiplied already, [batch, time, 4 units].")
        .infer(infer_forward)
        .kernel("sequence", run_forward)
        .gradient(+[](Grad& g) -> Tensors {
          Tensors d = backward_op.list({g.x(1), g.x(2), g.x(3), given(g, 4), g.y(1), g.y(2), g.y(0),
                                        arrived(g, 1), arrived(g, 2), arrived(g, 0), arrived(g, 3),
                                        arrived(g, 4), g.has_x(5) ? g.x(0) : Tensor(), given(g, 5)},
                                       {g.wants(0)});
          Tensors out{g.wants(0) ? d[0] : Tensor(),
                      d[1],
                      d[2],
                      d[3],
                      Tensor(),
                      g.has_x(5) ? d[4] : Tensor(),
                      g.has_x(6) ? d[5] : Tensor()};
          out.resize(static_cast<size_t>(g.inputs()));
          return out;
        })
        .keeps("x, recurrent, first_h, first_c, mask, kernel, gates, h, c");

nn::Recurred nn::lstm_sequence(const Tensor& x, const Tensor& recurrent, const Tensor& h,
                               const Tensor& c, const Tensor& mask, const InputWeights& inputs) {
  Tensors out = forward_op.list({x, recurrent, h, c, mask, inputs.kernel, inputs.bias});
  return {out[1], {out[3], out[4]}};
}

}  // namespace holdfast
