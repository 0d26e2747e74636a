#include "holdfast/keras/layers/input_layer.h"

#include "holdfast/keras/input_config.h"

namespace holdfast::keras::layers {
namespace {

using O = InputLayerOptions;
ClassDef& input_layer =
    Declare<InputLayerLayer>("layers.InputLayer", "What a model begins with.", &Layer::def())
        .option<&O::batch_shape>("batch_shape")
        .layer_options()
        .keywords();

}  // namespace

const ClassDef& InputLayerLayer::definition() const { return input_layer; }

Ref<InputLayerLayer> InputLayerLayer::of(const Tensor& input) {
  Ref<InputLayerLayer> out = make_ref<InputLayerLayer>();
  out->configure(
      {.batch_shape = input.shape(), .dtype = Policy(input.dtype()), .name = node_of(input)->name});
  out->take(input);
  return out;
}

void InputLayerLayer::take(Tensor input) {
  input_ = std::move(input);
  set_built(true);
}

const Tensor& InputLayerLayer::output() {
  if (!input_.defined()) {
    name_it();
    take(make_input(
        {.dtype = options_.dtype.compute, .name = name(), .batch_shape = options_.batch_shape}));
  }
  return input_;
}

ConfigDict InputLayerLayer::get_config() const {
  return input_config(const_cast<InputLayerLayer&>(*this).output()).as_object().config;
}

}  // namespace holdfast::keras::layers
