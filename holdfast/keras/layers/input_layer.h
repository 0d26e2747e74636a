// What a model begins with, among its layers.
#pragma once

#include "holdfast/keras/handle.h"
#include "holdfast/keras/symbol.h"

namespace holdfast::keras::layers {

struct InputLayerOptions {
  Shape batch_shape = Shape::unknown();  // with the batch
  Policy dtype = {};
  bool trainable = true;
  std::string name = {};
};

/// An Input as a layer: what the list of a model's layers has for it. It is never called.
class HOLDFAST_API InputLayerLayer : public Declares<InputLayerOptions> {
 public:
  /// The layer of an Input that is there already.
  static Ref<InputLayerLayer> of(const Tensor& input);
  const ClassDef& definition() const override;
  Nested call_all(const Nested& inputs, const CallOptions&) override { return inputs; }
  ConfigDict get_config() const override;
  /// Becomes the layer of an Input.
  void take(Tensor input);
  /// The Input. One is made when it is first asked for.
  const Tensor& output();

 private:
  Tensor input_;
};
using InputLayer = Handle<InputLayerLayer>;

}  // namespace holdfast::keras::layers
