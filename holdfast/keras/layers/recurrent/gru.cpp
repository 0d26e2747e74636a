#include "holdfast/keras/layers/recurrent/gru.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/layers/recurrent/gated_layer.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/recurrent.h"

namespace holdfast::keras::layers {
namespace {

using C = GRUCellOptions;
ClassDef& cell_class = cell_parts(
    cell_options(Declare<GRUCellLayer>("layers.GRUCell", "One step of a GRU.", &Layer::def()))
        .option<&C::reset_after>("reset_after")
        .option<&C::seed>("seed")
        .layer_options()
        .option<&C::implementation>("implementation", false));

using O = GRUOptions;
ClassDef& layer_class = repeating_parts(
    repeating_options(
        cell_options(Declare<GRULayer>("layers.GRU", "A recurrent layer of gated recurrent units.",
                                       &RNNLayer::class_def()))
            .option<&O::seed>("seed"))
        .option<&O::reset_after>("reset_after")
        .key_before("reset_after", "seed")
        .option<&O::use_cudnn>("use_cudnn", false)
        .layer_options()
        .option<&O::zero_output_for_mask>("zero_output_for_mask")
        .option<&O::implementation>("implementation", false));

Tensor activated(const ActivationOption& f, const Tensor& t) { return f ? (*f)(t) : t; }

}  // namespace

GRUCellLayer::GRUCellLayer(const GRUCellOptions& o) { configure(o); }
const ClassDef& GRUCellLayer::definition() const { return cell_class; }
GRULayer::GRULayer(const GRUOptions& o) { configure(o); }
const ClassDef& GRULayer::definition() const { return layer_class; }

void GRUCellLayer::check() { check_cell(options_); }

void GRUCellLayer::build(const Shape& inputs) {
  int64_t size = 3 * options_.units;
  make_weights(inputs, options_, 3, options_.reset_after ? Shape{2, size} : Shape{size},
               options_.bias_initializer);
}

CellWeights GRUCellLayer::begin(const Tensor& step, bool training) const {
  bool each = options_.implementation == 1 || options_.recurrent_dropout > 0;
  CellWeights w = read_weights(options_, step, training, each ? 3 : 1);
  if (w.bias.defined() && options_.reset_after) {
    w.recurrent_bias = at(w.bias, 1);
    w.bias = at(w.bias, 0);
  }
  return w;
}

Tensor GRUCellLayer::project(const Tensor& inputs, const CellWeights& w) const {
  return projected(inputs, w, 3);
}

Tensors GRUCellLayer::step(const Tensor& projected, std::span<const Tensor> states,
                           const CellWeights& w) const {
  const Tensor& h = states[0];
  Tensors x = split(projected, 3, {.axis = 1});
  Tensor z, r, candidate;
  if (options_.reset_after) {
    Tensor all = recurred(h, w, 3);
    if (w.recurrent_bias.defined()) all = all + w.recurrent_bias;
    Tensors inner = split(all, 3, {.axis = 1});
    z = activated(options_.recurrent_activation, x[0] + inner[0]);
    r = activated(options_.recurrent_activation, x[1] + inner[1]);
    candidate = x[2] + r * inner[2];
  } else {
    // The gate comes before the product, so that there are two products.
    int64_t units = options_.units;
    Tensors kernels = split(w.recurrent, {2 * units, units}, {.axis = 1});
    CellWeights gates{.recurrent = kernels[0]}, rest{.recurrent = kernels[1]};
    if (w.state_masks.size() == 3) {
      gates.state_masks = {w.state_masks[0], w.state_masks[1]};
      rest.state_masks = {w.state_masks[2]};
    }
    Tensors inner = split(recurred(h, gates, 2), 2, {.axis = 1});
    z = activated(options_.recurrent_activation, x[0] + inner[0]);
    r = activated(options_.recurrent_activation, x[1] + inner[1]);
    candidate = x[2] + recurred(r * h, rest, 1);
  }
  return {z * h + (1 - z) * activated(options_.activation, candidate)};
}

AllSteps GRUCellLayer::steps(const Tensor& x, std::span<const Tensor> states, const Tensor& mask,
                             const CellWeights& w) const {
  if (!options_.reset_after || !fits_kernel(options_, x, w)) return {};
  auto [inputs, by] = inputs_of(x, w);
  auto [all, last] = nn::gru_sequence(inputs, w.recurrent, w.recurrent_bias, states[0], mask, by);
  return {all, last};
}

void GRULayer::check() {
  check_cell_options(options_, class_name());
  check_cudnn(options_.use_cudnn, class_name());
  repeat(repeats_of<GRUCellLayer>(options_, "gru_cell"));
}

}  // namespace holdfast::keras::layers
