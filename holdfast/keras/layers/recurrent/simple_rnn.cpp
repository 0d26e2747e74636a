#include "holdfast/keras/layers/recurrent/simple_rnn.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/layers/recurrent/gated_layer.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

using C = SimpleRNNCellOptions;
ClassDef& cell_class =
    cell_parts(cell_options(Declare<SimpleRNNCellLayer>("layers.SimpleRNNCell",
                                                        "One step of a SimpleRNN.", &Layer::def()))
                   .option<&C::seed>("seed")
                   .layer_options());

using O = SimpleRNNOptions;
ClassDef& layer_class = repeating_parts(
    repeating_options(cell_options(Declare<SimpleRNNLayer>(
                          "layers.SimpleRNN", "A recurrent layer whose state is what a step gives.",
                          &RNNLayer::class_def())))
        .option<&O::seed>("seed")
        .layer_options()
        .option<&O::zero_output_for_mask>("zero_output_for_mask"));

}  // namespace

SimpleRNNCellLayer::SimpleRNNCellLayer(const SimpleRNNCellOptions& o) { configure(o); }
const ClassDef& SimpleRNNCellLayer::definition() const { return cell_class; }
SimpleRNNLayer::SimpleRNNLayer(const SimpleRNNOptions& o) { configure(o); }
const ClassDef& SimpleRNNLayer::definition() const { return layer_class; }

void SimpleRNNCellLayer::check() { check_cell(options_); }

void SimpleRNNCellLayer::build(const Shape& inputs) {
  make_weights(inputs, options_, 1, {options_.units}, options_.bias_initializer);
}

CellWeights SimpleRNNCellLayer::begin(const Tensor& step, bool training) const {
  return read_weights(options_, step, training, 1);
}

Tensor SimpleRNNCellLayer::project(const Tensor& inputs, const CellWeights& w) const {
  return projected(inputs, w, 1);
}

Tensors SimpleRNNCellLayer::step(const Tensor& x, std::span<const Tensor> states,
                                 const CellWeights& w) const {
  Tensor h = x + recurred(states[0], w, 1);
  return {options_.activation ? (*options_.activation)(h) : h};
}

void SimpleRNNLayer::check() {
  check_cell_options(options_, class_name());
  repeat(repeats_of<SimpleRNNCellLayer>(options_, "simple_rnn_cell"));
}

}  // namespace holdfast::keras::layers
