// A model made again with other layers.
#pragma once

#include "holdfast/keras/functional.h"
#include "holdfast/keras/sequential.h"

namespace holdfast::keras {

struct CloneOptions {
  /// What the new model is given, in the form of the old one's inputs; else new Inputs.
  Nested input_tensors = {};
  /// The new layer in the place of an old one; else one made from the old one's config.
  holdfast::Callback<Ref<Layer>(Layer& old)> clone_function = {};
  /// How a new layer is called: `call.replay_on(layer, inputs, {})`, unless it says otherwise. For
  /// functional models.
  holdfast::Callback<Nested(Layer& layer, const LayerCall& call, std::span<const Tensor> inputs)>
      call_function = {};
  /// Models inside are cloned by the same rules, not made from their configs.
  bool recursive = false;
  /// Compiled as the old one was.
  bool compile = true;
  /// New models have methods that another language may override.
  bool foreign = false;
};

/// A model of the same calls with new layers, and so with new weights. A layer that is shared stays
/// so.
HOLDFAST_API Ref<ModelLayer> clone_model(ModelLayer& model, const CloneOptions& = {});

}  // namespace holdfast::keras
