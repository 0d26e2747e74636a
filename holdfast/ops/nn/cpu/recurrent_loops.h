// Loops of recurrent layers over whole sequences, one table per instruction set. All tensors are
// float32 or float64, dense, with the batch first; rows of a batch do not know of each other, so
// that each thread takes some of them through all steps.
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
  int64_t steps = 0, units = 0;
  const void* weights = nullptr;
  const bool* mask = nullptr;               // [batch, steps]: false where a row stands still
  const void *h0 = nullptr, *c0 = nullptr;  // [batch, units]
};

/// Gates i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of x + h R; c' = f c + i g; h' = o tanh(c').
/// `weights`: R, gate by gate.
struct LstmForward : Sequence {
  const void* x = nullptr;                            // [batch, steps, 4 units]
  void *h = nullptr, *c = nullptr, *gates = nullptr;  // [batch, steps, units], gates 4 units
};

/// What arrives for h, c and gates goes back. `h_sum`, `c_sum` begin with what arrives for the last
/// states and end as the gradients of the first. `weights`: R transposed.
struct LstmBackward : Sequence {
  const void *gates = nullptr, *c = nullptr;
  const void *dh = nullptr, *dc = nullptr, *dgates = nullptr;  // optional
  void *dx = nullptr, *h_sum = nullptr, *c_sum = nullptr;
  void *dh_all = nullptr, *dc_all = nullptr;  // optional: all that arrived for each h and c
};

/// How h and c change (`th`, `tc`) when x changes by `tx` and the first states by h0, c0.
struct LstmTangent : Sequence {
  const void *gates = nullptr, *c = nullptr;  // of the forward run
  const void* first_c = nullptr;              // its first c
  const void* tx = nullptr;                   // [batch, steps, 4 units]
  void *th = nullptr, *tc = nullptr;          // [batch, steps, units]
};

/// Inner = h R + bias; z, r = sigmoid(x + inner), n = tanh(x + r inner); h' = z h + (1 - z) n.
/// `gates` are z, r, n and the inner part that r is multiplied with. `weights`: R, gate by gate.
struct GruForward : Sequence {
  const void *x = nullptr, *bias = nullptr;  // [batch, steps, 3 units], [3 units] or null
  void *h = nullptr, *gates = nullptr;       // [batch, steps, units], gates 4 units
};

/// As for LSTM; `dinner` is the gradient of h R + bias.
struct GruBackward : Sequence {
  const void *gates = nullptr, *h = nullptr;
  const void *dh = nullptr, *dgates = nullptr;  // optional
  void *dx = nullptr, *dinner = nullptr, *h_sum = nullptr;
  void* dh_all = nullptr;  // optional
};

/// How h changes when x changes by `tx`, inner by `tinner`, and the first state by h0.
struct GruTangent : Sequence {
  const void *gates = nullptr, *h = nullptr;
  const void* first_h = nullptr;
  const void *tx = nullptr, *tinner = nullptr;
  void* th = nullptr;
};

struct Loops {
  /// Elements of a packed matrix [k, n].
  int64_t (*packed_size)(int64_t k, int64_t n) = nullptr;
  /// Packs a matrix whose element (p, j) is at p * row_step + j * column_step.
  void (*pack)(const void* from, int64_t row_step, int64_t column_step, int64_t k, int64_t n,
               void* to) = nullptr;
  void (*lstm_forward)(const LstmForward&, const Part&) = nullptr;
  void (*lstm_backward)(const LstmBackward&, const Part&) = nullptr;
  void (*lstm_tangent)(const LstmTangent&, const Part&) = nullptr;
  void (*gru_forward)(const GruForward&, const Part&) = nullptr;
  void (*gru_backward)(const GruBackward&, const Part&) = nullptr;
  void (*gru_tangent)(const GruTangent&, const Part&) = nullptr;
};

struct Table {
  Loops f32, f64;
};

}  // namespace holdfast::recurrent

namespace holdfast {
#define HOLDFAST_DECLARE_RECURRENT(isa) \
  namespace isa {                       \
  recurrent::Table recurrent_table();   \
  }
HOLDFAST_EACH_ISA(HOLDFAST_DECLARE_RECURRENT)
#undef HOLDFAST_DECLARE_RECURRENT
}  // namespace holdfast
