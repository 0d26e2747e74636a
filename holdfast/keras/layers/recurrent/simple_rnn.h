// SimpleRNN: what a step gives is what the next one remembers.
#pragma once

#include "holdfast/keras/layers/recurrent/rnn.h"

namespace holdfast::keras::layers {

struct SimpleRNNCellOptions {
  int64_t units = 0;
  ActivationOption activation = "tanh";
  bool use_bias = true;
  InitializerOption kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                    bias_initializer = "zeros";
  RegularizerOption kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  ConstraintOption kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  Seed seed = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API SimpleRNNCellLayer : public Declares<SimpleRNNCellOptions, GatedCellLayer> {
 public:
  SimpleRNNCellLayer() = default;
  explicit SimpleRNNCellLayer(const SimpleRNNCellOptions& o);
  const ClassDef& definition() const override;
  Config state_size() const override { return options_.units; }
  void build(const Shape& inputs) override;
  CellWeights begin(const Tensor& step, bool training) const override;
  Tensor project(const Tensor& inputs, const CellWeights&) const override;
  Tensors step(const Tensor& projected, std::span<const Tensor> states,
               const CellWeights&) const override;

 private:
  void check() override;
  Start seed_start() const override { return {.seed = options_.seed}; }
};

/// `h = activation(inputs x kernel + h x recurrent_kernel + bias)`.
using SimpleRNNCell = Handle<SimpleRNNCellLayer>;

struct SimpleRNNOptions {
  int64_t units = 0;
  ActivationOption activation = "tanh";
  bool use_bias = true;
  InitializerOption kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                    bias_initializer = "zeros";
  RegularizerOption kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
                    activity_regularizer = {};
  ConstraintOption kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false,
       unroll = false;
  Seed seed = {};
  bool zero_output_for_mask = false;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API SimpleRNNLayer : public Declares<SimpleRNNOptions, RNNLayer> {
 public:
  SimpleRNNLayer() = default;
  explicit SimpleRNNLayer(const SimpleRNNOptions& o);
  const ClassDef& definition() const override;

 private:
  void check() override;
};

/// A SimpleRNNCell over the steps of sequences.
using SimpleRNN = Handle<SimpleRNNLayer>;

}  // namespace holdfast::keras::layers
