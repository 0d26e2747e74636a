// GRU: one state, and gates that say what of it is looked at and what is kept.
#pragma once

#include "holdfast/keras/layers/recurrent/rnn.h"

namespace holdfast::keras::layers {

struct GRUCellOptions {
  int64_t units = 0;
  ActivationOption activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  InitializerOption kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                    bias_initializer = "zeros";
  RegularizerOption kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  ConstraintOption kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  bool reset_after = true;  // the state is multiplied with its kernel before the gate, not after
  Seed seed = {};
  int64_t implementation = 2;  // 1: each gate has a mask of dropout of its own
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API GRUCellLayer : public Declares<GRUCellOptions, GatedCellLayer> {
 public:
  GRUCellLayer() = default;
  explicit GRUCellLayer(const GRUCellOptions& o);
  const ClassDef& definition() const override;
  Config state_size() const override { return options_.units; }
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

/// Gates z (keep), r (look), h in this order.
using GRUCell = Handle<GRUCellLayer>;

struct GRUOptions {
  int64_t units = 0;
  ActivationOption activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  InitializerOption kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                    bias_initializer = "zeros";
  RegularizerOption kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
                    activity_regularizer = {};
  ConstraintOption kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  Seed seed = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false,
       unroll = false;
  bool reset_after = true;
  Config use_cudnn = "auto";
  bool zero_output_for_mask = false;
  int64_t implementation = 2;
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API GRULayer : public Declares<GRUOptions, RNNLayer> {
 public:
  GRULayer() = default;
  explicit GRULayer(const GRUOptions& o);
  const ClassDef& definition() const override;

 private:
  void check() override;
};

/// A GRUCell over the steps of sequences.
using GRU = Handle<GRULayer>;

}  // namespace holdfast::keras::layers
