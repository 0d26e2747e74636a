// Sequential: layers one after the other.
#pragma once

#include "holdfast/keras/handle.h"

namespace holdfast::keras {

class HOLDFAST_API SequentialLayer : public Layer {
 public:
  static const ObjectClass kClass;
  SequentialLayer() = default;
  explicit SequentialLayer(const LayerOptions& o) : Layer(o) {}
  static Ref<SequentialLayer> from_config(const ConfigDict&);

  const ObjectClass& object_class() const override { return kClass; }
  void visit(Visitor&) const override;
  void clear() override;
  std::string class_name() const override { return "Sequential"; }
  Tensor call(const Tensor& inputs, const CallOptions&) override;
  ConfigDict get_config() const override;

  void add(const AnyLayer& layer);
  std::vector<Ref<Layer>> layers() const;

 private:
  SharedList<Ref<Layer>> layers_;
};

/// `Sequential({layers::Dense({.units = 64}), make<Mine>()})`
class HOLDFAST_API Sequential : public Handle<SequentialLayer> {
 public:
  Sequential(std::initializer_list<AnyLayer> layers, const LayerOptions& o = {})
      : Sequential(std::vector<AnyLayer>(layers), o) {}
  explicit Sequential(const std::vector<AnyLayer>& layers, const LayerOptions& o = {});
  explicit Sequential(Ref<SequentialLayer> made) : Handle(std::move(made)) {}
  /// The layers, in their order.
  std::vector<AnyLayer> layers() const;
};

/// What a config says of a layer: its class and what it is made with.
HOLDFAST_API ConfigObject serialize(const Layer& layer);
/// A layer of a config, of any registered class.
HOLDFAST_API Ref<Layer> deserialize(const Config& described);

}  // namespace holdfast::keras
