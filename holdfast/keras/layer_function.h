// A layer in the place of a function: `Dense(4, {.activation = ...})` with a PReLU.
#pragma once

#include "holdfast/keras/function.h"
#include "holdfast/keras/layer.h"

namespace holdfast::keras {

/// Calls a layer, which the layer that was given it holds.
class HOLDFAST_API LayerFunction final : public ForeignFunction {
 public:
  static const ObjectClass kClass;
  explicit LayerFunction(Ref<Layer> given) : layer(std::move(given)) {}
  const ObjectClass& object_class() const override { return kClass; }
  void visit(Visitor& see) const override { see.child(layer); }
  Tensor of(std::span<const Tensor> inputs) const override;
  Tensor first_value(const Shape& shape, DType dtype) const override;
  Config of_values(const Config::List& arguments) const override;
  std::string name() const override { return layer->name(); }
  Config config() const override { return layer->config(); }
  std::string text() const override { return layer->described(); }

  const Ref<Layer> layer;
};

}  // namespace holdfast::keras
