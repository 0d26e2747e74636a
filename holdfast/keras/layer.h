// What every layer is: weights, made when the shape of its inputs is known, and a rule.
#pragma once

#include <atomic>
#include <optional>

#include "holdfast/exec/module.h"
#include "holdfast/exec/nested.h"
#include "holdfast/keras/function.h"
#include "holdfast/keras/policy.h"

namespace holdfast::keras {

class LayerCall;

/// What goes along with the inputs of a call.
struct HOLDFAST_API CallOptions {
  std::optional<bool> training = {};      // not said: that of the layer around it
  Nested mask = {};                       // of the inputs; not said: what goes along with them
  std::vector<Nested::Entry> named = {};  // further arguments of `call`

  /// A further argument; null where it is not given, or None.
  const Nested* find(std::string_view name) const;
};

struct WeightOptions {
  std::string name = "variable";
  Shape shape = {};
  DType dtype = DType::kInvalid;       // kInvalid: the layer's
  InitializerOption initializer = {};  // none: glorot_uniform, or zeros
  RegularizerOption regularizer = {};
  ConstraintOption constraint = {};
  bool trainable = true;
  bool autocast = true;  // read in the dtype that the layer computes in
};

struct LayerOptions {
  std::string name = {};  // made from the class's, if not given
  bool trainable = true;
  Policy dtype = {};
  RegularizerOption activity_regularizer = {};
};

/// What a layer wants of its inputs; -1 and none leave one open.
struct InputSpec {
  int axes = -1, at_least = -1;                     // how many
  std::vector<std::pair<int, int64_t>> sizes = {};  // along some of them; -1 is the last one
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
class HOLDFAST_API Layer : public ModuleObject, public Declared, public HasConfig {
 public:
  using Options = LayerOptions;
  static ClassDef& def();

  Layer();
  explicit Layer(const LayerOptions& o);
  ~Layer() override;
  const ClassDef& definition() const override { return def(); }
  const ObjectClass& object_class() const override { return definition().kind; }
  void* option_place() override { return &common_; }
  void configured() override;
  std::string text() const override;
  void visit(Visitor&) const override;
  void clear() override;

  /// Builds the layer if that has not happened, and calls it.
  [[gnu::always_inline]] Tensor operator()(
      const Tensor& inputs, const CallOptions& options = {},
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return run(inputs, options).tensor();
  }
  /// The same for several tensors.
  [[gnu::always_inline]] Nested operator()(
      const Nested& inputs, const CallOptions& options = {},
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return run(inputs, options);
  }
  /// Builds a layer inside this one, with names below its own.
  void build_inner(Layer& inner, const std::vector<Shape>& inputs);
  /// Makes the weights for inputs of these shapes, once; a second call does nothing.
  void build_once(const std::vector<Shape>& inputs);
  void build_once(const Shape& inputs);

  /// The shapes that a call builds the layer for: those of the inputs, unless a class needs more.
  virtual std::vector<Shape> shapes_to_build(const Nested& inputs, const CallOptions&) const;
  /// Makes the weights. Unknown dimensions are -1.
  virtual void build(const Shape& /*inputs*/) {}
  /// The same for several inputs.
  virtual void build_all(const std::vector<Shape>& inputs);
  /// What a call computes.
  virtual Tensor call(const Tensor& inputs, const CallOptions&);
  /// The same for several inputs or results.
  virtual Nested call_all(const Nested& inputs, const CallOptions&);
  /// The shape that a call gives for inputs of a shape: found by tracing, unless a class knows it.
  virtual Shape compute_output_shape(const Shape& inputs);
  /// What it wants of its inputs: more once it is built. None: it takes any, or says so itself.
  virtual std::optional<InputSpec> input_spec() const { return {}; }
  /// Whether masks go through it.
  virtual bool supports_masking() const { return false; }
  /// The mask of what it gives.
  virtual Nested compute_mask(const Nested& inputs, const Nested& mask);
  /// What the layer can be made from again.
  virtual ConfigDict get_config() const;
  /// Its class and what it can be made from again, for the config of what it is inside of.
  Config config() const override;
  /// What `build_from_config` builds the layer from; null where it is not built.
  virtual Config get_build_config() const;
  /// The class's name, as configs write it.
  virtual std::string class_name() const;
  /// The name under which the class is registered, if it is a program's own.
  virtual std::string registered_name() const { return {}; }
  /// Its own, those that training changes first; then those of each layer inside.
  std::vector<Variable> variables() const override;
  std::vector<Variable> trainable_variables() const override;
  std::vector<Variable> non_trainable_variables() const override;

  void replace(const Variable& before, const Variable& now) override;
  /// The values of all weights, in the order of `variables`.
  std::vector<Tensor> get_weights() const;
  /// Gives all weights values in that order; where one does not fit, none changes.
  void set_weights(const std::vector<Tensor>& values);
  /// How many numbers its weights have.
  int64_t count_params() const;
  /// A new weight, made known to the layer and named in its scope.
  virtual Variable add_weight(const WeightOptions& = {});
  /// A weight's value in the dtype that the layer computes in.
  Tensor read(const Variable& weight) const;
  /// A further term of what training makes small.
  void add_loss(const Tensor& loss);
  /// What was added in the last call, and the penalties on weights; with those of layers inside.
  std::vector<Tensor> losses() const;
  void clear_losses();
  /// Layers that it holds directly.
  std::vector<Ref<Layer>> inner_layers() const;

  bool built() const { return built_; }
  void set_built(bool built) { built_ = built; }
  /// The shapes of inputs that `build` made the weights for last; none where it did not.
  const std::optional<std::vector<Shape>>& built_for() const { return built_for_; }
  void set_built_for(std::vector<Shape> inputs);
  bool trainable() const { return common_.trainable; }
  /// For all that is inside as well.
  virtual void set_trainable(bool trainable);
  const Policy& policy() const { return common_.dtype; }
  /// For calls, and for weights that are made from now on; layers inside keep theirs.
  void set_policy(const Policy& policy);
  DType dtype() const { return common_.dtype.variable; }
  DType compute_dtype() const { return common_.dtype.compute; }
  void set_options(const LayerOptions&);
  /// Layers that stand in the places of functions, as activations do, are the layer's own for as
  /// long as they stand there.
  void hold_given_layers();
  /// Takes over what the options of every layer have in common.
  template <class O>
  void take_options(const O& o) {
    LayerOptions out{.name = o.name, .trainable = o.trainable, .dtype = o.dtype};
    if constexpr (requires { o.activity_regularizer; })
      out.activity_regularizer = o.activity_regularizer;
    set_options(out);
  }
  const RegularizerOption& activity_regularizer() const { return common_.activity_regularizer; }
  /// Gives it a name if it has none: that of its class, with a number if that is taken.
  void name_it();
  /// "layer `dense` (Dense)", for messages.
  std::string described() const;
  /// Calls of it on symbols of models, as far as somebody holds them.
  std::vector<LayerCall*> calls() const;
  /// Builds it and calls it: what `operator()` does.
  Nested run(const Nested& inputs, CallOptions);
  /// What follows a call: penalties on what it gave, and its mask.
  void finish(const Nested& inputs, const Nested& mask, const Nested& outputs);
  /// Inputs in the dtype that the layer computes in.
  Tensor as_input(const Tensor& t) const;
  Where called_eagerly() const { return called_eagerly_; }
  /// How often the other language has put a method on this object, or taken one away.
  int64_t own_methods() const { return own_methods_; }
  void note_own_method();
  /// Where a call on a symbol was made, whether or not anybody still has what it gave.
  Where called_on_symbol() const { return called_on_symbol_; }

 private:
  friend class LayerCall;
  friend class LossesKept;
  void called_by(LayerCall* call, bool begins);

  RecursiveMutex building_;
  std::atomic<bool> built_ = false;
  std::optional<std::vector<Shape>> built_for_;
  bool named_ = false;
  LayerOptions common_;
  std::vector<Ref<Layer>> given_layers_;
  std::vector<std::pair<Variable, Ref<Regularizer>>> regularized_;
  std::vector<VariableState*> not_cast_;
  SharedList<Tensor> added_losses_;
  mutable Mutex calls_mutex_;
  std::vector<LayerCall*> calls_;
  Where called_eagerly_ = nullptr;
  std::atomic<int64_t> own_methods_ = 0;
  Where called_on_symbol_ = nullptr;
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
  Layer* outermost_;
};

/// Keeps what layers have added as losses while calls are made that do not count.
class HOLDFAST_API LossesKept {
 public:
  explicit LossesKept(Layer& layer);
  ~LossesKept();
  LossesKept(const LossesKept&) = delete;

 private:
  std::vector<std::pair<Ref<Layer>, std::vector<Tensor>>> kept_;
};

/// The mask that goes along with a tensor; an empty one where there is none.
HOLDFAST_API Tensor mask_of(const Tensor& t);
HOLDFAST_API void set_mask(const Tensor& t, const Tensor& mask);

/// "dense", then "dense_1": a name that no layer was given yet.
HOLDFAST_API std::string unique_layer_name(const std::string& base);
/// Begins to count names anew.
HOLDFAST_API void reset_layer_names();

}  // namespace holdfast::keras
