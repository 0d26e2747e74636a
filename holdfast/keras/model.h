// What every model is: a layer that knows its layers, and can be trained.
#pragma once

#include "holdfast/keras/handle.h"

namespace holdfast::keras {

class HOLDFAST_API ModelLayer : public Layer {
 public:
  static ClassDef& def();
  const ClassDef& definition() const override { return def(); }

  /// The layers that it is made of, each once, in their order.
  virtual std::vector<Ref<Layer>> layers() const;
  /// The layer of a name; an unknown one is refused with those there are.
  Ref<Layer> get_layer(const std::string& name) const;
  Ref<Layer> get_layer(size_t index) const;
};

/// A config of a layer: its class and what it is made with; and back.
HOLDFAST_API ConfigObject serialize(const Layer& layer);
HOLDFAST_API Ref<Layer> deserialize(const Config& described);

}  // namespace holdfast::keras
