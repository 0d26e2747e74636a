// What the ops of LSTM and GRU share: shapes, packed weights, and how the work is cut.
#pragma once

#include <initializer_list>

#include "holdfast/op/grad.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/nn/cpu/recurrent_loops.h"

namespace holdfast::recurrent {

/// Loops for float32 or float64.
const Loops& loops_for(DType);

/// Sizes of sequences as far as a shape rule knows them.
struct SequenceSizes {
  int64_t batch = kUnknown, steps = kUnknown, units = kUnknown, gates = 0;
  Shape each(int64_t parts = 1) const { return {batch, steps, times(parts)}; }
  /// What is kept for the gradient.
  Shape kept(int64_t parts = 1) const { return {steps, batch, times(parts)}; }
  Shape state() const { return {batch, units}; }
  Shape weights() const { return {units, times(gates)}; }
  int64_t times(int64_t parts) const { return units < 0 ? kUnknown : parts * units; }
};
/// Takes what is known from `x` [batch, steps, parts * units] and `recurrent` [units, gates *
/// units], and refuses those two where they do not fit. Either may be any input.
SequenceSizes sequence_sizes(const Infer& s, int x, int parts, int recurrent, int gates);
/// The same for inputs of any size with their `kernel` [size, gates * units], if that is there.
SequenceSizes input_sizes(const Infer& s, int x, int kernel, int recurrent, int gates);
/// Refuses input `i`, if it is there, unless it has that shape.
void need_shape(const Infer& s, int i, const Shape& wanted);

/// Attributes of gradient ops: whether anybody wants the gradient of x.
struct BackwardAttrs {
  Attr<bool> x_wanted;
};
/// Shapes of the gradients of inputs and their kernel. Without a kernel the first is that of the
/// sums; what is not wanted, or not there, is empty.
struct InputGradients {
  Shape x, kernel;
};
InputGradients input_gradients(const Infer& s, const SequenceSizes&, int x, int kernel,
                               bool x_wanted);

/// What an optional input has, null without it.
inline const void* raw_of(const Tensor& t) { return t.defined() ? t.raw() : nullptr; }
inline const void* raw_of(const Call& c, int i) { return c.has(i) ? c.in(i).raw() : nullptr; }
inline const bool* mask_of(const Call& c, int i) {
  return c.has(i) ? c.in(i).raw<bool>() : nullptr;
}
inline Tensor given(const Call& c, int i) { return c.has(i) ? c.in(i) : Tensor(); }

/// `kernel` [size, gates * units], if there is one, over `recurrent` [units, gates * units], packed
/// gate by gate for products with inputs and states.
Tensor packed_gates(const Call& c, const Tensor& kernel, const Tensor& recurrent, int gates);
/// One of them transposed, its gates in this order, for products with gradients of their sums.
Tensor packed_transposed(const Call& c, const Tensor& weights, std::initializer_list<int> gates);
/// Memory for gradients of the sums.
Tensor room_for_sums(const Call& c, DType, const Sequence&);

/// Writes the gradients of weights, or zeros where there are no rows.
void sum_weights(const Tensor& kernel, const Tensor& recurrent, WeightSums);
/// Writes the gradient of the inputs.
void sum_inputs(const Tensor& dx, const InputSums&);
/// These parts of gradients of the sums, with the batch first.
void copy_sums(const Sequence&, const Tensor& d, std::initializer_list<int> parts,
               const Tensor& to);
/// Of a row [4 units].
void copy_parts(const Tensor& row, std::initializer_list<int> parts, const Tensor& to);
/// The sum over the first axis, or zeros where it is empty.
void sum_rows(const Tensor& t, const Tensor& to);
/// Zeros that a run adds to.
Tensor zeroed(const Call& c, DType, const Shape&);

/// The last of each row's steps [batch, steps, units], or `first` where there are none.
void copy_last(const Tensor& states, const Tensor& first, const Tensor& to);
/// The same where the time comes first.
void copy_last_step(const Tensor& states, const Tensor& first, const Tensor& to);
/// A copy of `from`, or zeros if it is not there.
void copy_or_zero(const Tensor& from, const Tensor& to);

/// Runs the loop over all rows and steps: rows side by side, long sequences in parts between which
/// the run can be stopped. `backwards`: the last part first.
using PartFn = void (*)(void* env, const Part&);
void each_part(const Sequence&, int gates, bool backwards, PartFn, void* env);
template <class Of>
void run_parts(const Of& of, void (*loop)(const Of&, const Part&), int gates,
               bool backwards = false) {
  auto run = [&](const Part& part) { loop(of, part); };
  each_part(
      of, gates, backwards,
      [](void* env, const Part& part) { (*static_cast<decltype(run)*>(env))(part); }, &run);
}

// -- for the formulas of second derivatives

/// `first` and all but the last of `states`, along the axis of time.
Tensor shifted_in(const Tensor& first, const Tensor& states);
/// What goes back from `shifted_in`: for `first`, and for `states`.
struct ShiftedBack {
  Tensor first, states;
};
ShiftedBack shifted_back(const Tensor& t);
/// The sum over rows and steps of p' q.
Tensor sum_of_products(const Tensor& p, const Tensor& q);
/// Places of x and kernel among the inputs of a gradient op, and of the gradients of x, kernel and
/// bias among its outputs.
struct InputPlaces {
  int x, kernel, dx, dkernel, dbias;
};
/// How the sums change when these gradients do.
Tensor change_of_sums(const Grad& g, const InputPlaces& at);
/// Adds to a list of gradients those of x and kernel, where `d` is what arrives for the sums.
void add_input_gradients(const Grad& g, const InputPlaces& at, const Tensor& d, Tensors& out);
/// Zeros where the mask, if there is one, says that a row stands still.
Tensor where_moving(const Tensor& mask, const Tensor& t);
/// What is kept for the gradient, with the batch first, and back.
Tensor turned(const Tensor& t);
/// Refuses third derivatives of `what`, "an LSTM".
[[noreturn]] void refuse_third(const char* what);
/// Whether nobody wants the gradient of an input beside [first, end): those that all is linear in,
/// so that a tangent of what the op gives needs no further derivative.
bool wants_only(const Grad& g, int first, int end);
/// The change of the last state: the last of `states`, or of `first` where there are no steps.
Tensor last_change(const Tensor& first, const Tensor& states);
/// An input, or what arrives for an output; empty without it.
inline Tensor given(const Grad& g, int i) { return g.has_x(i) ? g.x(i) : Tensor(); }
inline Tensor arrived(const Grad& g, int i) { return g.has_dy(i) ? g.dy(i) : Tensor(); }

}  // namespace holdfast::recurrent
