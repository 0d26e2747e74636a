// How C++ programs hold models: a handle that trains, tries and saves what it holds.
#pragma once

#include "holdfast/keras/models/summary.h"
#include "holdfast/keras/saving/model_files.h"
#include "holdfast/keras/training.h"

namespace holdfast::keras {

/// A handle of a model. What is not here is the model's own: `model->get_config()`.
template <DerivesFrom<ModelLayer> L>
class ModelHandle : public Handle<L> {
  using Line = std::source_location;

 public:
  using Handle<L>::Handle;
  ModelHandle(const Handle<L>& handle) : Handle<L>(handle) {}

  /// Says how it is trained: `compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}})`.
  void compile(const CompileOptions& options, const Line& at = Line::current()) const {
    mark_caller(at);
    (*this)->compile(options);
  }
  /// Trains it on arrays: `fit(x, y, {.epochs = 5})`, `fit({a, b}, y)`.
  History fit(const Nested& x, const Nested& y, const FitOptions& options = {},
              const Line& at = Line::current()) const {
    mark_caller(at);
    return keras::fit(**this, x, y, options);
  }
  /// Trains it on a dataset, whose elements are batches `(x, y)` or `(x, y, sample_weight)`.
  History fit(const data::Dataset& batches, const FitOptions& options = {},
              const Line& at = Line::current()) const {
    mark_caller(at);
    return keras::fit(**this, batches, options);
  }
  /// The loss and the metrics: `evaluate(x, y)["loss"]`.
  Logs evaluate(const Nested& x, const Nested& y, const EvaluateOptions& options = {},
                const Line& at = Line::current()) const {
    mark_caller(at);
    return keras::evaluate(**this, x, y, options);
  }
  Logs evaluate(const data::Dataset& batches, const EvaluateOptions& options = {},
                const Line& at = Line::current()) const {
    mark_caller(at);
    return keras::evaluate(**this, batches, options);
  }
  /// What it gives for all of `x`, computed in batches.
  OneOrMore predict(const Nested& x, const EvaluateOptions& options = {},
                    const Line& at = Line::current()) const {
    mark_caller(at);
    return keras::predict(**this, x, options);
  }
  OneOrMore predict(const data::Dataset& batches, const EvaluateOptions& options = {},
                    const Line& at = Line::current()) const {
    mark_caller(at);
    return keras::predict(**this, batches, options);
  }

  /// Makes the weights for inputs of a shape; the first call would do it too.
  void build(const Shape& inputs, const Line& at = Line::current()) const {
    mark_caller(at);
    (*this)->build_once(inputs);
  }
  /// Writes a table of its layers.
  void summary(const SummaryOptions& options = {}) const { (*this)->summary(options); }
  /// The layers, in their order.
  std::vector<AnyLayer> layers() const {
    std::vector<AnyLayer> out;
    for (const Ref<Layer>& layer : (*this)->layers()) out.push_back(AnyLayer(layer));
    return out;
  }
  AnyLayer get_layer(const std::string& name) const { return AnyLayer((*this)->get_layer(name)); }
  AnyLayer get_layer(size_t index) const { return AnyLayer((*this)->get_layer(index)); }

  /// The whole model to a `.keras` file, which `load_model` reads.
  void save(const std::string& path, const Line& at = Line::current()) const {
    mark_caller(at);
    keras::save_model(**this, path);
  }
  /// The weights to a `.weights.h5` or `.safetensors` file.
  void save_weights(const std::string& path, const Line& at = Line::current()) const {
    mark_caller(at);
    keras::save_weights(**this, path);
  }
  void load_weights(const std::string& path, const LoadOptions& options = {},
                    const Line& at = Line::current()) const {
    mark_caller(at);
    keras::load_weights(**this, path, options);
  }
};

/// Any model: one that was loaded, one of a program's own class, or calls of layers on symbols:
///
///   Tensor x = Input({.shape = {4}}), y = layers::Dense(1)(layers::Dense(8)(x));
///   keras::Model model(x, y);
class HOLDFAST_API Model : public ModelHandle<ModelLayer> {
 public:
  /// An output that needs an Input which is not given is refused with the path that leads to it.
  Model(const Nested& inputs, const Nested& outputs, const LayerOptions& options = {},
        const std::source_location& at = std::source_location::current())
      : ModelHandle((mark_caller(at), of_graph(inputs, outputs, options))) {}
  template <DerivesFrom<ModelLayer> L>
  Model(const Handle<L>& handle) : Model(Ref<ModelLayer>(handle.ref())) {}
  explicit Model(Ref<ModelLayer> made) : ModelHandle(std::move(made)) {}

 private:
  static Ref<ModelLayer> of_graph(const Nested& inputs, const Nested& outputs,
                                  const LayerOptions& options);
};

/// A new model of a program's own class.
template <DerivesFrom<Layer> L, class... Args>
  requires DerivesFrom<L, ModelLayer>
ModelHandle<L> make(Args&&... args) {
  return ModelHandle<L>(make_ref<L>(std::forward<Args>(args)...));
}

}  // namespace holdfast::keras
