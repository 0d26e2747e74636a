// What every layer is: weights, made when the shape of its inputs is known, and a rule.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "holdfast/exec/module.h"
#include "holdfast/keras/functions.h"

namespace holdfast::keras {

/// What goes along with the inputs of a call.
struct CallOptions {
  std::optional<bool> training = {};  // not said: that of the layer around it
};

struct WeightOptions {
  std::string name = "variable";
  Shape shape = {};
  DType dtype = DType::kInvalid;                                // kInvalid: the layer's
  std::optional<InitializerOption> initializer = std::nullopt;  // glorot_uniform, or zeros
  bool trainable = true;
  Ref<Constraint> constraint = {};
};

struct LayerOptions {
  std::string name = {};  // made from the class's, if not given
  bool trainable = true;
  DType dtype = float32;
};

/// Base of layers. A program derives from it and says what a call computes:
///
///   struct Scale : keras::Layer {
///     void build(const Shape& inputs) override {
///       scale = add_weight({.name = "scale", .shape = {inputs[-1]}, .initializer = "ones"});
///     }
///     Tensor call(const Tensor& inputs, const CallOptions&) override { return inputs * scale; }
///     Variable scale;
///   };
///   auto model = keras::Sequential({layers::Dense({.units = 64}), make<Scale>()});
///
/// Layers are objects, which can't be copied, so none is ever sliced; programs hold them by
/// `Handle`, whose copies are the same layer. Methods that are virtual here may be overridden by a
/// Python subclass as well, and C++ code that calls them reaches it.
class HOLDFAST_API Layer : public ModuleObject {
 public:
  using Options = LayerOptions;
  static const ObjectClass kClass;

  Layer() = default;
  explicit Layer(const LayerOptions& o) { set_options(o); }
  const ObjectClass& object_class() const override { return kClass; }
  std::string text() const override;

  /// Builds the layer if that has not happened, and calls it.
  [[gnu::always_inline]] Tensor operator()(
      const Tensor& inputs, CallOptions options = {},
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return build_and_call(inputs, options);
  }
  /// Makes the weights for inputs of this shape, once; a second call does nothing.
  void build_once(const Shape& inputs);

  /// Makes the weights. Unknown dimensions are -1.
  virtual void build(const Shape& /*inputs*/) {}
  /// What a call computes.
  virtual Tensor call(const Tensor& inputs, const CallOptions&);
  /// What the layer can be made from again.
  virtual ConfigDict get_config() const;
  /// The class's name, as configs write it.
  virtual std::string class_name() const;
  /// The name under which the class is registered, if it is a program's own.
  virtual std::string registered_name() const { return {}; }
  std::vector<Variable> trainable_variables() const override;
  std::vector<Variable> non_trainable_variables() const override;

  /// A new weight, made known to the layer and named in its scope.
  Variable add_weight(WeightOptions = {});

  bool built() const { return built_; }
  void set_built(bool built) { built_ = built; }
  /// The shape of inputs that `build` made the weights for last; none where it did not.
  const std::optional<Shape>& built_for() const { return built_for_; }
  void set_built_for(const Shape& inputs) {
    built_for_ = inputs;
    built_ = true;
  }
  bool trainable() const { return trainable_; }
  void set_trainable(bool trainable);
  DType dtype() const { return dtype_; }
  void set_options(const LayerOptions&);
  /// Gives it a name if it has none: that of its class, with a number if that is taken.
  void name_it();
  /// "layer `dense` (Dense)", for messages.
  std::string described() const;

 private:
  Tensor build_and_call(const Tensor& inputs, CallOptions);

  std::recursive_mutex building_;
  std::atomic<bool> built_ = false;
  std::optional<Shape> built_for_;
  bool named_ = false, trainable_ = true;
  DType dtype_ = float32;
};

/// The layer's part of a call that a language makes itself: its name scope and the `training` in
/// force, for the layers inside.
class HOLDFAST_API CallScope {
 public:
  CallScope(Layer& layer, std::optional<bool> training);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  std::optional<bool> training() const { return training_; }
  /// What the innermost call said; nothing outside of calls.
  static std::optional<bool> training_now();

 private:
  NameScope names_;
  std::optional<bool> training_, around_;
};

/// The dtype that a config names.
HOLDFAST_API DType dtype_from(const Config& named, const std::string& what);
/// "dense", then "dense_1": a name that no layer was given yet.
HOLDFAST_API std::string unique_layer_name(const std::string& base);
/// "MyDense" as "my_dense".
HOLDFAST_API std::string snake_case(std::string_view class_name);

}  // namespace holdfast::keras
