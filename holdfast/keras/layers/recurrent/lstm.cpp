#include "holdfast/keras/layers/recurrent/lstm.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/layers/recurrent/gated_layer.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/recurrent.h"

namespace holdfast::keras::layers {
namespace {

using C = LSTMCellOptions;
ClassDef& cell_class = cell_parts(
    cell_options(Declare<LSTMCellLayer>("layers.LSTMCell", "One step of an LSTM.", &Layer::def()))
        .option<&C::seed>("seed")
        .layer_options()
        .option<&C::implementation>("implementation", false)
        .key_before("unit_forget_bias", "kernel_initializer"));

using O = LSTMOptions;
ClassDef& layer_class = repeating_parts(
    repeating_options(cell_options(Declare<LSTMLayer>("layers.LSTM",
                                                      "A recurrent layer with a long short-term "
                                                      "memory.",
                                                      &RNNLayer::class_def()))
                          .option<&O::seed>("seed"))
        .option<&O::use_cudnn>("use_cudnn", false)
        .layer_options()
        .option<&O::zero_output_for_mask>("zero_output_for_mask")
        .option<&O::implementation>("implementation", false));

// The bias of the forget gate begins at 1, so that a new cell remembers.
class ForgetBias final : public Initializer {
 public:
  ForgetBias(Ref<Initializer> others, int64_t units) : others_(std::move(others)), units_(units) {}
  void visit(Visitor& see) const override { see.child(others_); }
  Tensor operator()(const Shape&, DType dtype) const override {
    return concat(
        {(*others_)({units_}, dtype), ones({units_}, dtype), (*others_)({2 * units_}, dtype)}, 0);
  }

 private:
  Ref<Initializer> others_;
  int64_t units_;
};

}  // namespace

LSTMCellLayer::LSTMCellLayer(const LSTMCellOptions& o) { configure(o); }
const ClassDef& LSTMCellLayer::definition() const { return cell_class; }
LSTMLayer::LSTMLayer(const LSTMOptions& o) { configure(o); }
const ClassDef& LSTMLayer::definition() const { return layer_class; }

void LSTMCellLayer::check() { check_cell(options_); }

void LSTMCellLayer::build(const Shape& inputs) {
  InitializerOption first = options_.bias_initializer;
  if (options_.unit_forget_bias)
    first = Ref<Initializer>(
        make_ref<ForgetBias>(first ? first.function : initializer("zeros"), options_.units));
  make_weights(inputs, options_, 4, {4 * options_.units}, first);
}

CellWeights LSTMCellLayer::begin(const Tensor& step, bool training) const {
  bool each = options_.implementation == 1 || options_.recurrent_dropout > 0;
  return read_weights(options_, step, training, each ? 4 : 1);
}

Tensor LSTMCellLayer::project(const Tensor& inputs, const CellWeights& w) const {
  return projected(inputs, w, 4);
}

Tensors LSTMCellLayer::step(const Tensor& x, std::span<const Tensor> states,
                            const CellWeights& w) const {
  auto activation = [](const ActivationOption& f, const Tensor& t) { return f ? (*f)(t) : t; };
  Tensors z = split(x + recurred(states[0], w, 4), 4, {.axis = 1});
  Tensor i = activation(options_.recurrent_activation, z[0]);
  Tensor f = activation(options_.recurrent_activation, z[1]);
  Tensor c = f * states[1] + i * activation(options_.activation, z[2]);
  Tensor o = activation(options_.recurrent_activation, z[3]);
  return {o * activation(options_.activation, c), c};
}

AllSteps LSTMCellLayer::steps(const Tensor& x, std::span<const Tensor> states, const Tensor& mask,
                              const CellWeights& w) const {
  if (!fits_kernel(options_, x, w)) return {};
  auto [inputs, by] = inputs_of(x, w);
  auto [all, last] = nn::lstm_sequence(inputs, w.recurrent, states[0], states[1], mask, by);
  return {all, last};
}

void LSTMLayer::check() {
  check_cell_options(options_, class_name());
  check_cudnn(options_.use_cudnn, class_name());
  repeat(repeats_of<LSTMCellLayer>(options_, "lstm_cell"));
}

}  // namespace holdfast::keras::layers
