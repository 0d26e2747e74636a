// What the ops of LSTM and GRU share: shapes, packed weights, and how the work is cut.
#pragma once

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
  Shape state() const { return {batch, units}; }
  Shape weights() const { return {units, times(gates)}; }
  int64_t times(int64_t parts) const { return units < 0 ? kUnknown : parts * units; }
};
/// Takes what is known from `x` [batch, steps, parts * units] and `recurrent` [units, gates *
/// units], and refuses those two where they do not fit. Either may be any input.
SequenceSizes sequence_sizes(const Infer& s, int x, int parts, int recurrent, int gates);
/// Refuses input `i`, if it is there, unless it has that shape.
void need_shape(const Infer& s, int i, const Shape& wanted);

/// What an optional input has, null without it.
inline const void* raw_of(const Call& c, int i) { return c.has(i) ? c.in(i).raw() : nullptr; }
inline const bool* mask_of(const Call& c, int i) {
  return c.has(i) ? c.in(i).raw<bool>() : nullptr;
}
inline Tensor given(const Call& c, int i) { return c.has(i) ? c.in(i) : Tensor(); }

/// [units, gates * units], packed gate by gate for products with a state.
Tensor packed_gates(const Call& c, const Tensor& recurrent, int gates);
/// The same transposed, for products with gradients of all gates.
Tensor packed_transposed(const Call& c, const Tensor& recurrent);

/// The states before each step, [batch * steps, units]: the first, and those of steps but the last.
Tensor states_before(const Call& c, const Tensor& first, const Tensor& states);
/// sum over rows of a[row]^T b[row] for a [rows, m] and b [rows, n].
Status sum_of_products(const Tensor& a, const Tensor& b, int64_t rows, const Tensor& to);
/// The last of each row's steps [batch, steps, units], or `first` where there are none.
void copy_last(const Tensor& states, const Tensor& first, const Tensor& to);
/// A copy of `from`, or zeros if it is not there.
void copy_or_zero(const Tensor& from, const Tensor& to);

/// Runs the loop over all rows and steps: rows side by side, long sequences in parts between which
/// the run can be stopped. `backwards`: the last part first.
using PartFn = void (*)(void* env, const Part&);
void each_part(const Sequence&, int64_t batch, int gates, bool backwards, PartFn, void* env);
template <class Of>
void run_parts(const Of& of, void (*loop)(const Of&, const Part&), int64_t batch, int gates,
               bool backwards = false) {
  auto run = [&](const Part& part) { loop(of, part); };
  each_part(
      of, batch, gates, backwards,
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
/// Zeros where the mask, if there is one, says that a row stands still.
Tensor where_moving(const Tensor& mask, const Tensor& t);
/// Refuses third derivatives of `what`, "an LSTM".
[[noreturn]] void refuse_third(const char* what);
/// The change of the last state: the last of `states`, or of `first` where there are no steps.
Tensor last_change(const Tensor& first, const Tensor& states);
/// An input, or what arrives for an output; empty without it.
inline Tensor given(const Grad& g, int i) { return g.has_x(i) ? g.x(i) : Tensor(); }
inline Tensor arrived(const Grad& g, int i) { return g.has_dy(i) ? g.dy(i) : Tensor(); }

}  // namespace holdfast::recurrent
