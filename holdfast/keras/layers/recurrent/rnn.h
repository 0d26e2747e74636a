// RNN: a cell, repeated over the steps of sequences.
#pragma once

#include "holdfast/keras/layers/recurrent/cell.h"
#include "holdfast/keras/model.h"

namespace holdfast::keras {
namespace layers {

struct TimeLoopResult;

/// A cell, or several on top of each other.
struct CellOption : LayerOption {
  using LayerOption::LayerOption;
  CellOption() = default;
  HOLDFAST_API CellOption(const std::vector<LayerOption>& cells);
  CellOption(std::initializer_list<LayerOption> cells)
      : CellOption(std::vector<LayerOption>(cells)) {}
};

struct RNNOptions {
  CellOption cell = {};
  bool return_sequences = false;  // the outputs of all steps, not of the last alone
  bool return_state = false;      // also the states after the last step
  bool go_backwards = false, stateful = false, unroll = false;
  bool zero_output_for_mask = false;
  RegularizerOption activity_regularizer = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

class HOLDFAST_API RNNLayer : public Declares<RNNOptions> {
 public:
  RNNLayer() = default;
  explicit RNNLayer(const RNNOptions& o);
  static const ClassDef& class_def();
  const ClassDef& definition() const override { return class_def(); }
  bool supports_masking() const override { return true; }
  void build_all(const std::vector<Shape>& inputs) override;
  Nested call_all(const Nested& inputs, const CallOptions&) override;
  std::optional<InputSpec> input_spec() const override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;

  const Ref<Layer>& cell() const { return repeats_.cell.layer; }
  /// How the cell is repeated, whatever class the layer is of.
  const RNNOptions& repeats() const { return repeats_; }
  void set_zero_output_for_mask(bool zero) { repeats_.zero_output_for_mask = zero; }
  /// States of a stateful layer; none before it is built.
  const std::vector<Variable>& states() const { return states_; }
  /// Makes the states of a stateful layer zeros.
  void reset_state();

 protected:
  void check() override { repeat(options_); }
  /// Takes over what is repeated, and how: classes with a cell of their own say it.
  void repeat(const RNNOptions& o);

 private:
  void need_sequences(const Shape& inputs) const;
  Nested first_states(const Tensor& inputs, const CallOptions&);
  /// All steps by one kernel; `last` is empty where the cell has none for its options.
  TimeLoopResult by_kernel(const GatedCellLayer& cell, const Tensor& inputs, const Tensors& states,
                           const Tensor& mask, const CellWeights&, bool given_states) const;
  /// Step by step; `gated` is null for cells of programs.
  TimeLoopResult by_steps(GatedCellLayer* gated, const Tensor& inputs, const Nested& states,
                          const Tensor& mask, const CellWeights&, bool training) const;

  RNNOptions repeats_;
  std::vector<Variable> states_;
};

/// `RNN({.cell = LSTMCell({.units = 8})})`.
using RNN = Handle<RNNLayer>;

}  // namespace layers

template <>
struct HOLDFAST_API OptionType<layers::CellOption> {
  static Config get(const layers::CellOption& v) { return OptionType<LayerOption>::get(v); }
  static void set(layers::CellOption& v, const Config& c, const std::string& what);
};

}  // namespace holdfast::keras
