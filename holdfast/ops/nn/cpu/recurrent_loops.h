// Loops of recurrent layers over whole sequences, one table per instruction set. All tensors are
// float32 or float64 and dense. What programs see has the batch first; what is kept for the
// gradient has the time first, so that the rows of a step lie side by side. Rows of a batch do not
// know of each other, so that each thread takes some of them through all steps.
#pragma once

#include <cstdint>

#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/tensor/dtype.h"

namespace holdfast::recurrent {

/// Rows [row, row_end) of a batch, steps [step, step_end): what one call works on.
struct Part {
  int64_t row, row_end, step, step_end;
};

/// What all loops read. `weights` are packed. Pointers to what is optional are null without it.
struct Sequence {
  int64_t batch = 0, steps = 0, units = 0;
  const void* weights = nullptr;
  const bool* mask = nullptr;               // [batch, steps]: false where a row stands still
  const void *h0 = nullptr, *c0 = nullptr;  // [batch, units]
};

/// Inputs of a forward run: sums begin with x K + bias. `weights` are K over R, gate by gate.
struct Inputs : Sequence {
  const void *x = nullptr, *bias = nullptr;  // [batch, steps, size], [gates, units] or null
  int64_t size = 0;
  bool projected = false;  // x is x K already: [batch, steps, gates * units], and the size is 0
};

/// Gates i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of x K + bias + h R; c' = f c + i g;
/// h' = o tanh(c').
struct LstmForward : Inputs {
  void* h = nullptr;                    // [batch, steps, units]
  void *c = nullptr, *gates = nullptr;  // [steps, batch, units], [steps, batch, 4 units]
};

/// What arrives for h, c and gates goes back. What arrives for the sums, `d`, lies in panels of
/// some columns, each with a row for each step and row of the batch: weights are summed over
/// these. Its size is `sums_size`. `h_sum`, `c_sum` begin with what arrives for the last
/// states and end as the gradients of the first. `weights`: R transposed.
struct LstmBackward : Sequence {
  const void *gates = nullptr, *c = nullptr;
  const void *dh = nullptr, *dc = nullptr, *dgates = nullptr;  // optional, as h, c and gates lie
  void* d = nullptr;                                           // of the sums, in panels
  void *h_sum = nullptr, *c_sum = nullptr;
  void* bias_sums = nullptr;                  // optional: `d` over all steps, [batch, 4 units]
  void *dh_all = nullptr, *dc_all = nullptr;  // optional: all that arrived for each h and c, with
                                              // the batch first
};

/// How h and c change (`th`, `tc`) when x changes by `tx` and the first states by h0, c0.
/// `weights`: R, gate by gate.
struct LstmTangent : Sequence {
  const void *gates = nullptr, *c = nullptr;  // of the forward run
  const void* first_c = nullptr;              // its first c
  const void* tx = nullptr;                   // [batch, steps, 4 units]
  void *th = nullptr, *tc = nullptr;          // [batch, steps, units]
};

/// Inner = h R + inner_bias; z, r = sigmoid(x K + bias + inner), n = tanh(x K + bias + r inner);
/// h' = z h + (1 - z) n. `gates` are z, r, n and the inner part that r is multiplied with.
struct GruForward : Inputs {
  const void* inner_bias = nullptr;     // [3 units] or null
  void *h = nullptr, *gates = nullptr;  // [batch, steps, units], [steps, batch, 4 units]
};

/// As for LSTM. `d` has what goes back for n, z, r and the inner part of n, in this order: the
/// first three belong to x K, the last three to h R.
struct GruBackward : Sequence {
  const void *gates = nullptr, *h = nullptr;
  const void *dh = nullptr, *dgates = nullptr;  // optional
  void *d = nullptr, *h_sum = nullptr;
  void* bias_sums = nullptr;  // optional
  void* dh_all = nullptr;     // optional
};

/// How h changes when x changes by `tx`, inner by `tinner`, and the first state by h0.
struct GruTangent : Sequence {
  const void *gates = nullptr, *h = nullptr;
  const void* first_h = nullptr;
  const void *tx = nullptr, *tinner = nullptr;
  void* th = nullptr;
};

/// Gradients of K and R: x' d and h' d summed over all rows and steps, where h are the states
/// before each step. Part g of `d` belongs to gate `kernel_gate[g]` of
/// K and `recurrent_gate[g]` of R, or to none where that is negative.
struct WeightSums : Sequence {
  int64_t size = 0;
  const void *x = nullptr, *h = nullptr, *d = nullptr;
  int gates = 0;
  int kernel_gate[4] = {}, recurrent_gate[4] = {};
  void *kernel = nullptr, *recurrent = nullptr;  // [size, gates * units], [units, gates * units]
};

/// Gradient of x: the first `gates` parts of `d` times K, of which `weights` is the transpose.
struct InputSums : Sequence {
  int64_t size = 0;
  int gates = 0;
  const void* d = nullptr;
  void* dx = nullptr;  // [batch, steps, size]
};

/// Parts of `d`, with the batch first.
struct SumRows : Sequence {
  const void* d = nullptr;
  int count = 0, parts[4] = {};
  void* to = nullptr;  // [batch, steps, count * units]
};

struct Loops {
  /// Elements of a packed matrix [k, n].
  int64_t (*packed_size)(int64_t k, int64_t n) = nullptr;
  /// Packs a matrix whose element (p, j) is at p * row_step + j * column_step as rows [first, first
  /// + k) of a matrix of `depth` rows.
  void (*pack)(const void* from, int64_t row_step, int64_t column_step, int64_t k, int64_t n,
               void* to, int64_t first, int64_t depth) = nullptr;
  /// Elements of what arrives for the sums of four gates.
  int64_t (*sums_size)(const Sequence&) = nullptr;
  void (*lstm_forward)(const LstmForward&, const Part&) = nullptr;
  void (*lstm_backward)(const LstmBackward&, const Part&) = nullptr;
  void (*lstm_tangent)(const LstmTangent&, const Part&) = nullptr;
  void (*gru_forward)(const GruForward&, const Part&) = nullptr;
  void (*gru_backward)(const GruBackward&, const Part&) = nullptr;
  void (*gru_tangent)(const GruTangent&, const Part&) = nullptr;
  /// Rows [row, row_end) of K over R, the sums of those steps added to what earlier ones left.
  void (*weight_sums)(const WeightSums&, const Part&) = nullptr;
  void (*input_sums)(const InputSums&, const Part&) = nullptr;
  void (*sum_rows)(const SumRows&) = nullptr;
};

struct Table {
  Loops f32, f64;
};

}  // namespace holdfast::recurrent

namespace holdfast {
#define HOLDFAST_DECLARE_RECURRENT(isa) \
  namespace isa {                       \
  recurrent::Table recurrent_table();   \
  void add_gru(recurrent::Table&);      \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE_RECURRENT)
#undef HOLDFAST_DECLARE_RECURRENT
}  // namespace holdfast
