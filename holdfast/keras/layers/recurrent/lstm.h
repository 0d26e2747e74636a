// LSTM: a memory, and gates that say what is forgotten, written and shown.
#pragma once

#include "holdfast/keras/layers/recurrent/rnn.h"

namespace holdfast::keras::layers {

struct LSTMCellOptions {
  int64_t units = 0;
  ActivationOption activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  InitializerOption kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                    bias_initializer = "zeros";
  bool unit_forget_bias = true;  // the forget gate's bias begins at 1
  RegularizerOption kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  ConstraintOption kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  Seed seed = {};
  int64_t implementation = 2;  // 1: each gate has a mask of dropout of its own
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API LSTMCellLayer : public Declares<LSTMCellOptions, GatedCellLayer> {
 public:
  LSTMCellLayer() = default;
  explicit LSTMCellLayer(const LSTMCellOptions& o);
  const ClassDef& definition() const override;
  Config state_size() const override { return Config::List{options_.units, options_.units}; }
  void build(const Shape& inputs) override;
  CellWeights begin(const Tensor& step, bool training) const override;
  Tensor project(const Tensor& inputs, const CellWeights&) const override;
  Tensors step(const Tensor& projected, std::span<const Tensor> states,
               const CellWeights&) const override;
  AllSteps steps(const Tensor& inputs, std::span<const Tensor> states, const Tensor& mask,
                 const CellWeights&) const override;

 private:
  void check() override;
  Start seed_start() const override { return {.seed = options_.seed}; }
};

/// Gates i, f, c, o in this order; states h and c.
using LSTMCell = Handle<LSTMCellLayer>;

struct LSTMOptions {
  int64_t units = 0;
  ActivationOption activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  InitializerOption kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                    bias_initializer = "zeros";
  bool unit_forget_bias = true;
  RegularizerOption kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
                    activity_regularizer = {};
  ConstraintOption kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  Seed seed = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false,
       unroll = false;
  Config use_cudnn = "auto";
  bool zero_output_for_mask = false;
  int64_t implementation = 2;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API LSTMLayer : public Declares<LSTMOptions, RNNLayer> {
 public:
  LSTMLayer() = default;
  explicit LSTMLayer(const LSTMOptions& o);
  const ClassDef& definition() const override;

 private:
  void check() override;
};

/// An LSTMCell over the steps of sequences.
using LSTM = Handle<LSTMLayer>;

}  // namespace holdfast::keras::layers
