// What the cells of SimpleRNN, LSTM and GRU have in common, for any of their options.
#pragma once

#include <algorithm>
#include <typeinfo>

#include "holdfast/keras/layers/recurrent/cell.h"
#include "holdfast/op/advice.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/dropout.h"
#include "holdfast/ops/indexing.h"

namespace holdfast::keras::layers {

/// Options of every cell that has gates, in Keras' order.
template <class L>
Declare<L>&& cell_options(Declare<L>&& d) {
  using O = typename L::Options;
  std::move(d).template required<&O::units>("units").template option<&O::activation>("activation");
  if constexpr (requires(O o) { o.recurrent_activation; })
    std::move(d).template option<&O::recurrent_activation>("recurrent_activation");
  std::move(d)
      .template option<&O::use_bias>("use_bias")
      .template option<&O::kernel_initializer>("kernel_initializer")
      .template option<&O::recurrent_initializer>("recurrent_initializer")
      .template option<&O::bias_initializer>("bias_initializer");
  if constexpr (requires(O o) { o.unit_forget_bias; })
    std::move(d).template option<&O::unit_forget_bias>("unit_forget_bias");
  std::move(d)
      .template option<&O::kernel_regularizer>("kernel_regularizer")
      .template option<&O::recurrent_regularizer>("recurrent_regularizer")
      .template option<&O::bias_regularizer>("bias_regularizer");
  if constexpr (requires(O o) { o.activity_regularizer; })
    std::move(d).template option<&O::activity_regularizer>("activity_regularizer");
  return std::move(d)
      .template option<&O::kernel_constraint>("kernel_constraint")
      .template option<&O::recurrent_constraint>("recurrent_constraint")
      .template option<&O::bias_constraint>("bias_constraint")
      .template option<&O::dropout>("dropout")
      .template option<&O::recurrent_dropout>("recurrent_dropout");
}

/// Options of every layer that repeats a cell.
template <class L>
Declare<L>&& repeating_options(Declare<L>&& d) {
  using O = typename L::Options;
  return std::move(d)
      .template option<&O::return_sequences>("return_sequences")
      .template option<&O::return_state>("return_state")
      .template option<&O::go_backwards>("go_backwards")
      .template option<&O::stateful>("stateful")
      .template option<&O::unroll>("unroll");
}

/// The options of a layer that its cell has too.
template <class C, class O>
C cell_options_of(const O& o, const char* name) {
  C c;
  c.units = o.units;
  c.activation = o.activation;
  c.use_bias = o.use_bias;
  c.kernel_initializer = o.kernel_initializer;
  c.recurrent_initializer = o.recurrent_initializer;
  c.bias_initializer = o.bias_initializer;
  c.kernel_regularizer = o.kernel_regularizer;
  c.recurrent_regularizer = o.recurrent_regularizer;
  c.bias_regularizer = o.bias_regularizer;
  c.kernel_constraint = o.kernel_constraint;
  c.recurrent_constraint = o.recurrent_constraint;
  c.bias_constraint = o.bias_constraint;
  c.dropout = o.dropout;
  c.recurrent_dropout = o.recurrent_dropout;
  c.seed = o.seed;
  c.trainable = o.trainable;
  c.dtype = o.dtype;
  c.name = name;
  if constexpr (requires { c.recurrent_activation; })
    c.recurrent_activation = o.recurrent_activation;
  if constexpr (requires { c.implementation; }) c.implementation = o.implementation;
  if constexpr (requires { c.unit_forget_bias; }) c.unit_forget_bias = o.unit_forget_bias;
  if constexpr (requires { c.reset_after; }) c.reset_after = o.reset_after;
  return c;
}

/// Refuses options that make no sense, for a cell or for a layer of one.
template <class O>
void check_cell_options(const O& o, const std::string& of) {
  if (o.units < 1)
    fail(Code::E1103, cat(of, ": `units` is ", o.units, ", expected at least 1"),
         "units are the size of what a step gives");
  auto rate = [&](double v, const char* option) {
    if (!(v >= 0 && v <= 1))
      fail(Code::E1103, cat(of, ": `", option, "` is ", v, ", expected 0 to 1"));
  };
  rate(o.dropout, "dropout");
  rate(o.recurrent_dropout, "recurrent_dropout");
  if constexpr (requires { o.implementation; }) {
    if (o.implementation != 1 && o.implementation != 2)
      fail(Code::E1103, cat(of, ": `implementation` is ", o.implementation, ", expected 1 or 2"));
  }
}

template <class O>
void GatedCellLayer::check_cell(const O& o) {
  check_cell_options(o, class_name());
}

template <class O>
void GatedCellLayer::make_weights(const Shape& inputs, const O& o, int64_t gates, Shape bias_shape,
                                  InitializerOption bias_initializer) {
  if (!inputs.has_rank() || inputs.rank() != 2 || inputs[1] < 0)
    fail(Code::E1102,
         cat(described(), ": the inputs of a step have the shape ", inputs.text(),
             ", expected [batch, size] of a known size"),
         "the kernel has one row for each element of the inputs");
  kernel = add_weight({.name = "kernel",
                       .shape = {inputs[1], o.units * gates},
                       .initializer = o.kernel_initializer,
                       .regularizer = o.kernel_regularizer,
                       .constraint = o.kernel_constraint});
  recurrent_kernel = add_weight({.name = "recurrent_kernel",
                                 .shape = {o.units, o.units * gates},
                                 .initializer = o.recurrent_initializer,
                                 .regularizer = o.recurrent_regularizer,
                                 .constraint = o.recurrent_constraint});
  if (o.use_bias)
    bias = add_weight({.name = "bias",
                       .shape = bias_shape,
                       .initializer = bias_initializer,
                       .regularizer = o.bias_regularizer,
                       .constraint = o.bias_constraint});
}

template <class O>
CellWeights GatedCellLayer::read_weights(const O& o, const Tensor& step, bool training,
                                         int64_t masks) const {
  CellWeights w{.kernel = read(kernel), .recurrent = read(recurrent_kernel)};
  if (bias.defined()) w.bias = read(bias);
  if (!training) return w;
  auto draw = [&](double rate, const Tensor& like, Tensors& into) {
    if (rate <= 0) return;
    for (int64_t i = 0; i < masks; ++i)
      into.push_back(rate == 1 ? zeros_like(like)
                               : nn::stateless_dropout(ones_like(like), rate, next_seed()));
  };
  draw(o.dropout, step, w.input_masks);
  Tensor batch = at(shape(step), 0);
  if (o.recurrent_dropout > 0)
    draw(
        o.recurrent_dropout,
        fill(Sizes(stack({batch, static_cast<int32_t>(o.units)})), Tensor::scalar(1, step.dtype())),
        w.state_masks);
  return w;
}

template <class O>
bool GatedCellLayer::fits_kernel(const O& o, const Tensor& x, const CellWeights& w) const {
  auto is = [](const ActivationOption& f, const char* name) {
    if (!f) return false;
    // A program's own function may be called so, too.
    Ref<Activation> named = activation(name);
    const Activation &one = *f.function, &ours = *named;
    return typeid(one) == typeid(ours) && one.config() == ours.config();
  };
  return w.state_masks.empty() && (x.dtype() == float32 || x.dtype() == float64) &&
         is(o.activation, "tanh") && is(o.recurrent_activation, "sigmoid");
}

}  // namespace holdfast::keras::layers
