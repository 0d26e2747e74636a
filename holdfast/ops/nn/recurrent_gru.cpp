// GRU over whole sequences, the reset gate after the product: forward, its gradient, and what the
// gradient's gradient is made of.
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn/recurrent_run.h"
#include "holdfast/ops/recurrent.h"

namespace holdfast {
namespace {

using namespace recurrent;

// Inputs: x, recurrent, bias, first_h, mask, kernel, input_bias. Outputs: h, gates, last_h.
void infer_forward(Infer& s) {
  SequenceSizes z = input_sizes(s, 0, 5, 1, 3);
  need_shape(s, 2, {z.times(3)});
  need_shape(s, 3, z.state());
  need_shape(s, 4, {z.batch, z.steps});
  need_shape(s, 6, {z.times(3)});
  for (const Shape& out : {z.each(), z.kept(4), z.state()}) s.output(s.dtype(), out);
}

Status run_forward(Call& c) {
  GruForward f;
  Tensor weights = packed_gates(c, given(c, 5), c.in(1), 3);
  f.batch = c.in(0).dim(0);
  f.steps = c.in(0).dim(1);
  f.units = c.in(1).dim(0);
  f.projected = !c.has(5);
  f.size = f.projected ? 0 : c.in(0).dim(2);
  f.weights = weights.raw();
  f.x = c.in(0).raw();
  f.inner_bias = raw_of(c, 2);
  f.bias = raw_of(c, 6);
  f.h0 = c.in(3).raw();
  f.mask = mask_of(c, 4);
  f.h = c.out(0).mutable_raw();
  f.gates = c.out(1).mutable_raw();
  run_parts(f, loops_for(c.in(0).dtype()).gru_forward, 3);
  copy_last(c.out(0), c.in(3), c.out(2));
  return {};
}

// What a run backwards reads, and what it makes: gradients of the sums and of the first state.
struct Back {
  Tensor recurrent, first_h, mask, h, gates, dh, dgates, h_sum;
};
GruBackward backward_of(const Back& of) {
  GruBackward b;
  b.steps = of.gates.dim(0);
  b.batch = of.gates.dim(1);
  b.units = of.recurrent.dim(0);
  b.h0 = of.first_h.raw();
  b.mask = of.mask.defined() ? of.mask.raw<bool>() : nullptr;
  b.h = of.h.raw();
  b.gates = of.gates.raw();
  b.dh = raw_of(of.dh);
  b.dgates = raw_of(of.dgates);
  b.h_sum = of.h_sum.mutable_raw();
  return b;
}

// Inputs: recurrent, first_h, mask, h, gates, then what arrives for h, gates, last_h, if anything
// does; x and kernel, if there is a kernel. Outputs: for x, recurrent, bias, first_h, kernel,
// input_bias.
void infer_backward(Infer& s) {
  SequenceSizes z = sequence_sizes(s, 3, 1, 0, 3);
  need_shape(s, 1, z.state());
  need_shape(s, 2, {z.batch, z.steps});
  need_shape(s, 4, z.kept(4));
  need_shape(s, 5, z.each());
  need_shape(s, 6, z.kept(4));
  need_shape(s, 7, z.state());
  InputGradients of = input_gradients(s, z, 8, 9, s.attrs<BackwardAttrs>().x_wanted());
  Shape bias{z.times(3)};
  for (const Shape& out : {of.x, z.weights(), bias, z.state(), of.kernel, bias})
    s.output(s.dtype(), out);
}

Status run_backward(Call& c) {
  const Tensor &recurrent = c.in(0), &gates = c.in(4);
  DType dtype = gates.dtype();
  Tensor weights = packed_transposed(c, recurrent, {0, 1, 2}),
         bias_sums = zeroed(c, dtype, {gates.dim(1), gates.dim(2)}),
         bias_sum = c.scratch(dtype, {gates.dim(2)});
  copy_or_zero(given(c, 7), c.out(3));
  GruBackward b = backward_of(
      {recurrent, c.in(1), given(c, 2), c.in(3), gates, given(c, 5), given(c, 6), c.out(3)});
  Tensor d = room_for_sums(c, dtype, b);
  b.d = d.mutable_raw();
  b.weights = weights.raw();
  b.bias_sums = bias_sums.mutable_raw();
  run_parts(b, loops_for(dtype).gru_backward, 3, true);
  sum_rows(bias_sums, bias_sum);
  copy_parts(bias_sum, {1, 2, 3}, c.out(2));
  copy_parts(bias_sum, {1, 2, 0}, c.out(5));
  WeightSums w;
  static_cast<Sequence&>(w) = b;
  w.gates = 3;
  w.h = c.in(3).raw();
  w.d = d.raw();
  bool kernel = c.has(9);
  if (kernel) {
    w.size = c.in(8).dim(2);
    w.x = c.in(8).raw();
  }
  constexpr int of_x[] = {2, 0, 1, -1}, of_h[] = {-1, 0, 1, 2};
  for (int g = 0; g < 4; ++g) {
    w.kernel_gate[g] = kernel ? of_x[g] : -1;
    w.recurrent_gate[g] = of_h[g];
  }
  sum_weights(c.out(4), c.out(1), w);
  if (!kernel) {
    copy_sums(b, d, {1, 2, 0}, c.out(0));
  } else if (c.attrs<BackwardAttrs>().x_wanted()) {
    Tensor back = packed_transposed(c, c.in(9), {2, 0, 1});
    InputSums i;
    static_cast<Sequence&>(i) = b;
    i.weights = back.raw();
    i.size = w.size;
    i.gates = 3;
    i.d = d.raw();
    sum_inputs(c.out(0), i);
  } else {
    c.out(0);
  }
  return {};
}

// Inputs: recurrent, first_h, mask, h, gates, what arrived for h, last_h; then changes: of the
// inputs' sums, of the state's product, of first_h. Outputs: all that arrived for each h, how it
// changes, and what arrives for the sums of n, z, r and for the inner part of n.
void infer_second(Infer& s) {
  SequenceSizes z = sequence_sizes(s, 7, 3, 0, 3);
  need_shape(s, 1, z.state());
  need_shape(s, 2, {z.batch, z.steps});
  need_shape(s, 3, z.each());
  need_shape(s, 4, z.kept(4));
  need_shape(s, 5, z.each());
  need_shape(s, 6, z.state());
  need_shape(s, 8, z.each(3));
  need_shape(s, 9, z.state());
  s.output(s.dtype(), z.each());
  s.output(s.dtype(), z.each());
  s.output(s.dtype(), z.each(4));
}

Status run_second(Call& c) {
  const Tensor &recurrent = c.in(0), &gates = c.in(4);
  const Loops& loops = loops_for(gates.dtype());
  Tensor transposed = packed_transposed(c, recurrent, {0, 1, 2}),
         weights = packed_gates(c, {}, recurrent, 3);
  Tensor h_sum = c.scratch(gates.dtype(), c.in(1).shape());
  copy_or_zero(given(c, 6), h_sum);
  GruBackward b =
      backward_of({recurrent, c.in(1), given(c, 2), c.in(3), gates, given(c, 5), Tensor(), h_sum});
  Tensor d = room_for_sums(c, gates.dtype(), b);
  b.d = d.mutable_raw();
  b.weights = transposed.raw();
  b.dh_all = c.out(0).mutable_raw();
  run_parts(b, loops.gru_backward, 3, true);
  GruTangent t;
  static_cast<Sequence&>(t) = b;
  t.weights = weights.raw();
  t.gates = b.gates;
  t.h = b.h;
  t.first_h = b.h0;
  t.tx = c.in(7).raw();
  t.tinner = c.in(8).raw();
  t.h0 = c.in(9).raw();
  t.th = c.out(1).mutable_raw();
  run_parts(t, loops.gru_tangent, 3);
  copy_sums(b, d, {0, 1, 2, 3}, c.out(2));
  return {};
}

}  // namespace

static Tensors second_gradient(Grad& g);
static const Op second_op =
    RAW_OP(GRUSequenceSecond)
        .inputs(
            "recurrent, first_h, mask: M?, h, gates, h_backprop?, last_h_backprop?, sums_change, "
            "inner_change, first_h_change")
        .outputs("h_arrived, h_change, sums_backprop")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc("What second derivatives of a GRU over sequences are made of.")
        .infer(infer_second)
        .kernel("sequence", run_second)
        .gradient(second_gradient);

// The gradient's gradient. Backwards, with D = all that arrives for a step's h, q the product of
// the state that r is multiplied with, h' the state before the step,
//   dz = D (h'-n) z(1-z), dn = D (1-z)(1-n^2), dr = dn q r(1-r), dq = dn r,
//   inner = (dz, dr, dq), D[t-1] = dh[t-1] + D z + inner R', dR = sum of h' inner.
// What arrives for dz, dr, dn is `a`, `b`, `k`; D then gets what the forward run's tangent is. With
// a kernel K the gradients of x and K are (dz, dr, dn) K' and the sum of x' (dz, dr, dn).
static Tensors backward_gradient(Grad& g) {
  bool arrived_only = wants_only(g, 5, 8);
  if (g.has_x(6) && !arrived_only) refuse_third("a GRU");
  const Tensor &recurrent = g.x(0), &first_h = g.x(1), &h = g.x(3);
  Tensor mask = given(g, 2), x_change = change_of_sums(g, {8, 9, 0, 4, 5}), weights = g.dy(1),
         m0 = g.dy(3), gates = turned(g.x(4));
  Tensor before_h = shifted_in(first_h, h), inner_change = matmul(before_h, weights) + g.dy(2);
  x_change = x_change + zeros_like(inner_change);  // that of a bias has no rows
  Tensors made = second_op.list(
      {recurrent, first_h, mask, h, g.x(4), given(g, 5), given(g, 7), x_change, inner_change, m0});
  const Tensor &D = made[0], &m = made[1];
  Tensor before_m = shifted_in(m0, m);
  Tensors l = split(where_moving(mask, inner_change + matmul(before_m, recurrent)), 3, {.axis = 2}),
          v = split(where_moving(mask, x_change), 3, {.axis = 2}),
          gate = split(gates, 4, {.axis = 2}), sums = split(made[2], 4, {.axis = 2});
  const Tensor &z = gate[0], &r = gate[1], &n = gate[2], &q = gate[3], &dn = sums[0];
  Tensor sz = z * (1 - z), sr = r * (1 - r), sn = 1 - n * n;
  Tensor a = v[0] + l[0], b = v[1] + l[1], k = v[2] + l[2] * r + b * q * sr;
  Tensors out(8);
  if (g.has_x(5)) out[5] = m;
  if (g.has_x(6)) out[6] = turned(concat({a * sz, b * sr, k * sn, l[2]}, 2));
  if (g.has_x(7)) out[7] = last_change(m0, m);
  if (arrived_only) {
    out.resize(static_cast<size_t>(g.inputs()));
    return out;
  }
  Tensor to_gates =
      concat({D * (a * (before_h - n) * (1 - 2 * z) - k * sn + before_m),
              dn * (b * q * (1 - 2 * r) + l[2]), -D * (a * sz + 2 * k * (1 - z) * n), b * dn * sr},
             2);
  Tensor inner = concat({sums[1], sums[2], sums[3]}, 2);
  ShiftedBack from_h = shifted_back(a * D * sz + matmul(inner, weights, {.transpose_b = true}));
  out[0] = sum_of_products(before_m, inner);
  out[1] = from_h.first;
  out[3] = from_h.states;
  out[4] = turned(where_moving(mask, to_gates));
  add_input_gradients(g, {8, 9, 0, 4, 5}, concat({sums[1], sums[2], dn}, 2), out);
  return out;
}

static const Op backward_op =
    RAW_OP(GRUSequenceGrad)
        .inputs(
            "recurrent, first_h, mask: M?, h, gates, h_backprop?, gates_backprop?, "
            "last_h_backprop?, x?, kernel?")
        .attr("x_wanted", true)
        .attrs<&BackwardAttrs::x_wanted>()
        .outputs(
            "x_backprop, recurrent_backprop, bias_backprop, first_h_backprop, kernel_backprop, "
            "input_bias_backprop")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc("Gradients of a GRU over sequences.")
        .infer(infer_backward)
        .kernel("sequence", run_backward)
        .gradient(backward_gradient);

// The change of h is linear in those of sums, inner parts and the first state, and goes back as a
// gradient of h does.
static Tensors second_gradient(Grad& g) {
  if (!wants_only(g, 7, 10)) refuse_third("a GRU");
  Tensors out(10);
  if (g.has_dy(1)) {
    Tensor none;
    Tensors d = backward_op.list(
                {g.x(0), g.x(1), given(g, 2), g.x(3), g.x(4), g.dy(1), none, none, none, none},
                {true}),
            sums = split(d[0], 3, {.axis = 2}), gate = split(turned(g.x(4)), 4, {.axis = 2});
    out[7] = d[0];
    out[8] = concat({sums[0], sums[1], sums[2] * gate[1]}, 2);
    out[9] = d[3];
  }
  return out;
}

static const Op forward_op =
    RAW_OP(GRUSequence)
        .inputs("x, recurrent, bias?, first_h, mask: M?, kernel?, input_bias?")
        .outputs("h, gates, last_h")
        .dtypes({float32, float64})
        .dtypes({boolean}, "M")
        .doc(
            "GRU with sigmoid and tanh over sequences: gates z, r, h of `x` times `kernel`, [size, "
            "3 units], plus `input_bias`, and of the state times `recurrent` plus `bias`. Without "
            "a kernel `x` is multiplied already, [batch, time, 3 units].")
        .infer(infer_forward)
        .kernel("sequence", run_forward)
        .gradient(+[](Grad& g) -> Tensors {
          Tensors d = backward_op.list(
              {g.x(1), g.x(3), given(g, 4), g.y(0), g.y(1), arrived(g, 0), arrived(g, 1),
               arrived(g, 2), g.has_x(5) ? g.x(0) : Tensor(), given(g, 5)},
              {g.wants(0)});
          Tensors out{g.wants(0) ? d[0] : Tensor(),
                      d[1],
                      g.has_x(2) ? d[2] : Tensor(),
                      d[3],
                      Tensor(),
                      g.has_x(5) ? d[4] : Tensor(),
                      g.has_x(6) ? d[5] : Tensor()};
          out.resize(static_cast<size_t>(g.inputs()));
          return out;
        })
        .keeps("x, recurrent, first_h, mask, kernel, h, gates");

nn::Recurred nn::gru_sequence(const Tensor& x, const Tensor& recurrent,
                              const Tensor& recurrent_bias, const Tensor& h, const Tensor& mask,
                              const InputWeights& inputs) {
  Tensors out =
      forward_op.list({x, recurrent, recurrent_bias, h, mask, inputs.kernel, inputs.bias});
  return {out[0], {out[2]}};
}

}  // namespace holdfast
