// Recurrent layers over whole sequences, as ops: what Keras' LSTM and GRU run where their options
// are those that most programs leave as they are.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::nn {

/// What a recurrent layer leaves: the output of each step [batch, time, units], and the states
/// after the last one.
struct Recurred {
  Tensor all;
  Tensors last;
};

/// What inputs are multiplied with: `kernel` [size, gates * units], and a bias [gates * units] that
/// may be left out. Without a kernel the inputs are multiplied already, [batch, time, gates *
/// units].
struct InputWeights {
  Tensor kernel = {}, bias = {};
};

/// LSTM with sigmoid and tanh over `x` [batch, time, size], gates i, f, c, o; `recurrent` is
/// [units, 4 units]. A row stands still where `mask` [batch, time], if there is one, is false.
/// float32 and float64.
HOLDFAST_API Recurred lstm_sequence(const Tensor& x, const Tensor& recurrent, const Tensor& h,
                                    const Tensor& c, const Tensor& mask = {},
                                    const InputWeights& inputs = {});

/// GRU with sigmoid and tanh whose reset gate comes after the product: gates z, r, h.
/// `recurrent_bias` [3 units] may be left out.
HOLDFAST_API Recurred gru_sequence(const Tensor& x, const Tensor& recurrent,
                                   const Tensor& recurrent_bias, const Tensor& h,
                                   const Tensor& mask = {}, const InputWeights& inputs = {});

}  // namespace holdfast::nn
