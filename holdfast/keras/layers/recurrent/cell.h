// Cells: what a recurrent layer does at one step of a sequence.
#pragma once

#include "holdfast/keras/handle.h"
#include "holdfast/keras/seed_generator.h"
#include "holdfast/ops/recurrent.h"

namespace holdfast::keras::layers {

/// Base of cells. A call takes the inputs of one step and, as `states`, what the step before left;
/// it gives its output and the new states. A program derives its own and says `state_size` and
/// `call_all`.
class HOLDFAST_API CellLayer : public Layer {
 public:
  /// The size of each state, without the batch: a number, or a list where there are several.
  virtual Config state_size() const = 0;
  /// The size of what a step gives; that of the first state where nothing else is said.
  virtual int64_t output_size() const;
  /// The states before the first step: zeros.
  virtual Nested initial_state(const Tensor& batch_size) const;
};

/// Sizes of the states of any cell: `state_size` of a class of C++'s, or of another language's.
HOLDFAST_API Config state_size_of(const Layer& cell);
HOLDFAST_API int64_t output_size_of(const Layer& cell);
HOLDFAST_API Nested initial_state_of(Layer& cell, const Tensor& batch_size);

/// What all steps of one call share: weights as they are read, and masks of dropout (none, one, or
/// one for each gate).
struct CellWeights {
  Tensor kernel = {}, recurrent = {}, bias = {}, recurrent_bias = {};
  Tensors input_masks = {}, state_masks = {};
};

/// What all steps give at once; `all` is empty where they have to be run one by one.
struct AllSteps {
  Tensor all;    // the first state after each step, [batch, time, units]
  Tensors last;  // the states after the last
};

/// A cell whose inputs are projected for all steps at once, so that a step is left with one product
/// of the states. Its output is its first state.
class HOLDFAST_API GatedCellLayer : public CellLayer, public DrawsSeeds {
 public:
  bool supports_masking() const override { return false; }
  Nested call_all(const Nested& inputs, const CallOptions&) override;
  /// Reads the weights, and draws masks for a step's inputs [batch, size] if it trains.
  virtual CellWeights begin(const Tensor& step, bool training) const = 0;
  /// The inputs' part of the gates, for [..., size].
  virtual Tensor project(const Tensor& inputs, const CellWeights&) const = 0;
  /// The states after a step whose inputs are projected.
  virtual Tensors step(const Tensor& projected, std::span<const Tensor> states,
                       const CellWeights&) const = 0;
  /// All steps of [batch, time, size] by one kernel, where the cell's options are those that there
  /// is one for. `mask` [batch, time] may be empty; masked rows keep their states.
  virtual AllSteps steps(const Tensor& /*inputs*/, std::span<const Tensor> /*states*/,
                         const Tensor& /*mask*/, const CellWeights&) const {
    return {};
  }

  // `bias` is empty if there is none
  HeldWeight kernel{*this}, recurrent_kernel{*this}, bias{*this};

 protected:
  /// Makes the weights for `gates` gates.
  template <class O>
  void make_weights(const Shape& inputs, const O& o, int64_t gates, Shape bias_shape,
                    InitializerOption bias_initializer);
  template <class O>
  CellWeights read_weights(const O& o, const Tensor& step, bool training, int64_t masks) const;
  /// Inputs times the kernel, plus the bias; gate by gate where each has a mask.
  Tensor projected(const Tensor& inputs, const CellWeights&, int64_t gates) const;
  /// A state times the recurrent kernel.
  Tensor recurred(const Tensor& state, const CellWeights&, int64_t gates) const;
  template <class O>
  void check_cell(const O& o);
  /// Whether the kernels of whole sequences fit: Keras' own activations, nothing between the steps.
  template <class O>
  bool fits_kernel(const O& o, const Tensor& inputs, const CellWeights&) const;
  /// Inputs [batch, time, size] for such a kernel, and what it multiplies them with: nothing where
  /// each gate has a mask of its own, for then they are multiplied here.
  struct KernelInputs {
    Tensor x;
    nn::InputWeights by;
  };
  KernelInputs inputs_of(const Tensor& inputs, CellWeights) const;
};

/// Whether the cell is one of ours as it is: no class of a program's derives from it and says
/// another `call`.
HOLDFAST_API GatedCellLayer* plain_gated_cell(Layer& cell);

}  // namespace holdfast::keras::layers
